import { createTransport } from '../../../../shared/client/transport';

const TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 1024 * 1024;
const OK = 200;
/** Key sets have a type of their own, and API servers that publish theirs write no other. */
const ACCEPT = 'application/json, application/jwk-set+json';

/** Reads one JSON document over https. Throws an Error that names the address when it is not to be had. */
export type FetchJson = (url: string, signal: AbortSignal) => Promise<unknown>;

/** `authorities` gives PEM; where it gives none, those of this machine are trusted. Redirections are not followed. */
export function createFetchJson(authorities: () => string | undefined): FetchJson {
  return async (url, signal) => {
    const ca = authorities();
    const { protocol, origin, pathname, search } = new URL(url);
    if (protocol !== 'https:') throw new Error(`${url} is not an https address`);
    const transport = createTransport({
      server: origin,
      answerBytesMax: BODY_BYTES_MAX,
      ...(ca === undefined ? {} : { ca }),
    });
    try {
      const request = { method: 'GET', path: pathname + search, headers: { accept: ACCEPT } };
      const { code, body } = await transport.send(request, { timeoutMs: TIMEOUT_MS, signal });
      if (code !== OK) throw new Error(`the answer is ${String(code)}`);
      return JSON.parse(body.toString('utf8')) as unknown;
    } catch (error) {
      throw new Error(`${url}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      transport.close();
    }
  };
}
