import type { AllowsAddress } from '../../../../shared/meta/ip-address';
import { createTransport } from '../../../../shared/client/transport';

const TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 1024 * 1024;
const OK = 200;
/** Key sets have their own media type, the only one that API servers publish them with. */
const ACCEPT = 'application/json, application/jwk-set+json';

/** Fetches a JSON document over https. Throws an Error that names the URL. */
export type FetchJson = (url: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Creates the fetch function. `authorities` returns PEM, or undefined to trust those of the system; `allows` says which addresses may be
 * connected to. Redirects are not followed.
 */
export function createFetchJson(authorities: () => string | undefined, allows?: AllowsAddress): FetchJson {
  return async (url, signal) => {
    const ca = authorities();
    const { protocol, origin, pathname, search } = new URL(url);
    if (protocol !== 'https:') throw new Error(`${url} is not an https address`);
    const transport = createTransport({
      server: origin,
      allows,
      answerBytesMax: BODY_BYTES_MAX,
      ...(ca === undefined ? {} : { ca }),
    });
    try {
      const request = { method: 'GET', path: pathname + search, headers: { accept: ACCEPT } };
      const { code, body } = await transport.send(request, { timeoutMs: TIMEOUT_MS, signal });
      if (code !== OK) throw new Error(`the server answered ${String(code)}`);
      return JSON.parse(body.toString('utf8')) as unknown;
    } catch (error) {
      throw new Error(`${url}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      transport.close();
    }
  };
}
