import { MEDIA_TYPE } from '../../shared/names';
import type { Answer } from '../exchange/exchange';
import { jsonLine } from '../encoding/json-representation';

const JSON_HEADERS = { 'Content-Type': MEDIA_TYPE.json } as const;

/** An answer whose body is ready JSON. */
export function jsonAnswer(code: number, body: Buffer | AsyncIterable<Buffer>): Answer {
  return { code, headers: JSON_HEADERS, body };
}

/** An answer made of a value; for small documents that are not objects of the store. */
export function documentAnswer(code: number, document: unknown): Answer {
  return jsonAnswer(code, jsonLine(document));
}

/** What is said of a path that nothing here knows, in the words and the plain text of every Go server. */
export function pageNotFound(): Answer {
  return {
    code: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from('404 page not found\n'),
  };
}
