import { ANNOTATION } from '../../shared/names';
import type { Entry, Representation } from '../watch/entry';

/** How one kind and version is written as JSON: everything that stands around the bytes of the cache. */
export interface JsonRepresentation extends Representation {
  /** A complete object, with the trailing newline that every JSON body has. */
  object(bytes: Buffer): Buffer;
  readonly kind: string;
  readonly apiVersion: string;
}

const NEWLINE = Buffer.from('\n');

export function createJsonRepresentation(kind: string, apiVersion: string): JsonRepresentation {
  const head = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
  const frameHead = {
    ADDED: Buffer.concat([Buffer.from('{"type":"ADDED","object":'), head]),
    MODIFIED: Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), head]),
    DELETED: Buffer.concat([Buffer.from('{"type":"DELETED","object":'), head]),
  };
  const frameTail = Buffer.from('}\n');
  return {
    id: `json ${apiVersion} ${kind}`,
    kind,
    apiVersion,
    object: (bytes) => Buffer.concat([head, bytes, NEWLINE]),
    frame: (type: 'ADDED' | 'MODIFIED' | 'DELETED', entry: Entry) =>
      Buffer.concat([frameHead[type], entry.bytes, frameTail]),
    bookmark: (revision, initialEventsEnd) =>
      jsonLine({
        type: 'BOOKMARK',
        object: {
          kind,
          apiVersion,
          metadata: {
            resourceVersion: String(revision),
            ...(initialEventsEnd ? { annotations: { [ANNOTATION.initialEventsEnd]: 'true' } } : {}),
          },
        },
      }),
    error: (status) => jsonLine({ type: 'ERROR', object: status }),
  };
}

/** One JSON document and a newline. */
export function jsonLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
