import { privateKeyToAccount } from "viem/accounts";
import { canonicalMessage, sign } from "../../../src/api/signing.ts";
import { ATTESTATION } from "../../../src/api/wallet-signature.ts";
import { answerTo, type Call, get, post } from "./call.ts";

/** Two signed orders of one wallet that fill each other whole: sent in turn, they leave the book as it was. */
export interface CrossingOrders {
  readonly buy: Call;
  readonly sell: Call;
  /** The HMAC key of both. */
  readonly secret: string;
}

interface Overview {
  readonly clock: { readonly unixTime: number };
  readonly devAccounts: readonly { readonly address: string; readonly privateKey: `0x${string}` }[];
}

interface Credentials {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/** Derives credentials of a wallet and signs its orders, in a new market of their own. */
export async function crossingOrders(port: number): Promise<CrossingOrders> {
  const ask = async <Reply>(call: Call): Promise<Reply> =>
    JSON.parse((await answerTo(call, port)).body) as Reply;
  const { clock, devAccounts } = await ask<Overview>(get("/sim"));
  const [wallet] = devAccounts;
  if (wallet === undefined) throw new Error("the server has no dev account");
  const { address, privateKey } = wallet;
  const signature = await privateKeyToAccount(privateKey).signMessage({ message: ATTESTATION });
  const keys = await ask<Credentials>(post("/clob/auth/derive-api-key", { address, signature }));
  const market = await ask<{ readonly tokens: readonly [{ readonly tokenId: string }, unknown] }>(
    post("/sim/markets", { question: "Will the benchmark end?" }),
  );
  const order = (side: "BUY" | "SELL"): Call => {
    const terms = { tokenId: market.tokens[0].tokenId, side, orderType: "GTC", price: 0.5, size: 10 };
    return signed("/order", terms, { address, ...keys }, String(clock.unixTime));
  };
  return { buy: order("BUY"), sell: order("SELL"), secret: keys.secret };
}

function signed(
  path: string,
  body: object,
  { address, apiKey, secret, passphrase }: Credentials & { readonly address: string },
  timestamp: string,
): Call {
  const message = canonicalMessage({ timestamp, method: "POST", path, body: JSON.stringify(body) });
  return post(`/clob${path}`, body, {
    poly_address: address,
    poly_api_key: apiKey,
    poly_passphrase: passphrase,
    poly_timestamp: timestamp,
    poly_signature: sign(secret, message),
  });
}
