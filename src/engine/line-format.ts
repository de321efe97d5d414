import { type FixedText, fixedText } from "../core/bytes/fixed-text.ts";
import type { OrderType, Side } from "../core/terms.ts";

// What stands between the values of a line, for the one that writes lines and the one that reads them. All lines begin
// and end alike: {"n":1,"p":"00000000","s":0,"t":0,"k":"...","d":{...},"r":"00000000","c":"00000000"}

export const NUMBER = fixedText('{"n":');
export const PREVIOUS = fixedText(',"p":"');
export const SYNCED = fixedText('","s":');
export const TIME = fixedText(',"t":');
export const KIND = fixedText(',"k":"');
export const DATA = fixedText('","d":');
export const CAUSED = fixedText(',"r":"');
export const CHECK = fixedText('","c":"');

export const END = fixedText('"}\n');

// The lines that there are millions of, whole but for their numbers.

export const ORDER = fixedText(',"k":"order","d":{"account":');
export const TOKEN = fixedText(',"token":');
export const PRICE_OF: Readonly<Record<Side, FixedText>> = {
  BUY: fixedText(',"side":"BUY","price":'),
  SELL: fixedText(',"side":"SELL","price":'),
};
export const SIZE = fixedText(',"size":');
export const CAUSED_BY: Readonly<Record<OrderType, FixedText>> = {
  GTC: fixedText(',"orderType":"GTC"},"r":"'),
  GTD: fixedText(',"orderType":"GTD","expiration":'),
  FOK: fixedText(',"orderType":"FOK"},"r":"'),
  FAK: fixedText(',"orderType":"FAK"},"r":"'),
};
export const CANCEL = fixedText(',"k":"cancel","d":{"order":');
/** After the number that is the last of some data. */
export const CAUSED_AT_ONCE = fixedText('},"r":"');
