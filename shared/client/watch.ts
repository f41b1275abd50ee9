import type { ApiObject } from '../object/object';
import { ConnectionError } from './connection-error';
import type { WatchEvent, WatchEventType } from './options';
import { WATCH_EVENT_TYPES } from './options';
import { splitLines } from './lines';
import { statusErrorFromObject } from './status';
import type { StreamedAnswer } from './transport';

/** Above the largest stored object (3 MiB requests) plus managedFields and escapes. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The events of one watch answer. Ends when the server ends it; throws the decoded StatusError of an ERROR event, a
 * ConnectionError when the connection breaks or sends what is no event, or the signal's reason.
 */
export async function* decodeWatch<T extends ApiObject>(
  answer: StreamedAnswer,
): AsyncGenerator<WatchEvent<T>> {
  try {
    for await (const line of splitLines(answer.chunks, EVENT_BYTES_MAX)) yield decodeEvent<T>(line);
  } finally {
    answer.end();
  }
}

function decodeEvent<T extends ApiObject>(line: Buffer): WatchEvent<T> {
  const { type, object } = parse(line);
  if (type === 'ERROR') throw statusErrorFromObject(object);
  if (!isEventType(type) || typeof object !== 'object' || object === null) {
    throw noEvent(`of the unknown type ${JSON.stringify(type)}`);
  }
  return { type, object: object as T };
}

function parse(line: Buffer): { readonly type?: unknown; readonly object?: unknown } {
  try {
    return JSON.parse(line.toString('utf8')) as { type?: unknown; object?: unknown };
  } catch (error) {
    throw noEvent('that is not JSON', error);
  }
}

function noEvent(what: string, cause?: unknown): ConnectionError {
  return new ConnectionError(`the watch sent an event ${what}`, {
    code: 'EBADMSG',
    outcomeUnknown: false,
    cause,
  });
}

function isEventType(type: unknown): type is WatchEventType {
  return WATCH_EVENT_TYPES.some((known) => known === type);
}
