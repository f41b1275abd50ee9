import { createTransport } from '../../../../shared/client/transport';

const TIMEOUT_MS = 10_000;
const BODY_BYTES_MAX = 1024 * 1024;
const OK = 200;

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
      const request = { method: 'GET', path: pathname + search, headers: { accept: 'application/json' } };
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
