import { ApiError } from "../../api/errors.ts";
import { refuseDuplicate } from "../../api/signing.ts";
import { verifyDerivation } from "../../api/wallet-signature.ts";
import type { Handlers } from "../handler.ts";
import { submit } from "./trading.ts";

type Field = string | number | undefined;

const FIELDS = ["address", "signature", "timestamp", "nonce"] as const;

/** POST /clob/auth/derive-api-key (contract, section 2). */
export const credentialsHandlers: Handlers<"deriveApiKey"> = {
  deriveApiKey: async ({ body, headers, rawHeaders }, service) => {
    const duplicate = refuseDuplicate(rawHeaders);
    if (duplicate !== undefined)
      throw new ApiError(duplicate.code, duplicate.error, { details: duplicate.details });
    const sent: Partial<Record<(typeof FIELDS)[number], Field>> = {};
    for (const field of FIELDS) sent[field] = merged(field, body[field], headers[`poly_${field}`]);
    const serverTime = Math.floor(service.exchange.now / 1000);
    const verdict = await verifyDerivation(sent, serverTime, { personalSign: service.options.personalSign });
    if (!verdict.ok) {
      throw new ApiError(verdict.code, verdict.error, { hint: verdict.hint, details: verdict.details });
    }
    submit(service, { kind: "deriveCredentials", address: verdict.address });
    const { apiKey, secret, passphrase } = service.keyring.latest(verdict.address);
    return { apiKey, secret, passphrase };
  },
};

/** A field of the body and its header, which must agree where both are given. */
function merged(field: string, inBody: Field, header: string | string[] | undefined): Field {
  const inHeader = Array.isArray(header) ? header.join(", ") : header;
  if (inBody === undefined) return inHeader;
  if (inHeader !== undefined && String(inBody).toLowerCase() !== inHeader.toLowerCase()) {
    throw new ApiError("CONFLICTING_FIELDS", `${field} in the body differs from the header poly_${field}`, {
      details: { fields: [field, `poly_${field}`] },
    });
  }
  return inBody;
}
