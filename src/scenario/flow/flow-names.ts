/** The longest name of an account, an order or a market. */
export const MAX_NAME_LENGTH = 128;

const DIGITS = "0123456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** What a character is good for in a name. */
const OTHER = 0;
const ID_ONLY = 1;
const INNER = 2;
const DIGIT = 3;
const LETTER = 4;

/** By character code. */
const KINDS = Uint8Array.from({ length: 128 }, (_none, code) => {
  const character = String.fromCharCode(code);
  if (LETTERS.includes(character)) return LETTER;
  if (DIGITS.includes(character)) return DIGIT;
  if ("_-".includes(character)) return INNER;
  return ".:".includes(character) ? ID_ONLY : OTHER;
});

/** Whether a text can name an account: a letter, then letters, digits, `_` and `-`. */
export const isAccountName = (text: string): boolean => isName(text, LETTER, INNER);

/** Whether a text can name a market, as a slug does: a letter or digit, then letters, digits, `_` and `-`. */
export const isMarketName = (text: string): boolean => isName(text, DIGIT, INNER);

/** Whether a text can name an order, as an id does: a letter or digit, then letters, digits, `_`, `-`, `.` and `:`. */
export const isOrderName = (text: string): boolean => isName(text, DIGIT, ID_ONLY);

function isName(text: string, first: number, others: number): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_NAME_LENGTH || kindAt(text, 0) < first) return false;
  for (let index = 1; index < length; index += 1) {
    if (kindAt(text, index) < others) return false;
  }
  return true;
}

const kindAt = (text: string, index: number): number => KINDS[text.charCodeAt(index)] ?? OTHER;
