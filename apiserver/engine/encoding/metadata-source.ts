import { isJsonObject } from '../../../shared/object/clone';
import { stringifyExact } from '../../../shared/object/exact-text';
import { decodeJson } from '../../../shared/schema/decode';
import type { Endpoint } from '../registry/resource';
import type { Source } from './source';
import { kept, metadataEnd } from './source';

/**
 * Returns the source that an object's metadata is cut out of: the object itself, or a copy without the annotations that hold fields of
 * the kind. Those belong to the object, not to its metadata.
 */
export function metadataSource(endpoint: Endpoint): (source: Source) => Source {
  const { hub, resource } = endpoint.row;
  const { hiddenAnnotations: hidden = [] } = endpoint;
  if (hidden.length === 0) return (source) => source;
  const id = `metadata ${hub.group}/${resource}`;
  return (source) => ({
    bytes: kept(source, id, () => withoutAnnotations(source, hidden)),
    transient: true,
  });
}

function withoutAnnotations(source: Source, hidden: readonly string[]): Buffer {
  const bytes = source.bytes.subarray(0, metadataEnd(source));
  if (!hidden.some((name) => bytes.includes(name))) return bytes;
  const { metadata } = decodeJson(Buffer.concat([OPEN, bytes, CLOSE])) as { metadata: Metadata };
  const { annotations } = metadata;
  if (!isJsonObject(annotations)) return bytes;
  const shown = Object.entries(annotations).filter(([name]) => !hidden.includes(name));
  const members = Object.entries(metadata).flatMap(([name, value]) => {
    if (name !== 'annotations') return [[name, value] as const];
    return shown.length === 0 ? [] : [[name, Object.fromEntries(shown)] as const];
  });
  return Buffer.from(`"metadata":${stringifyExact(Object.fromEntries(members))}`);
}

type Metadata = Readonly<Record<string, unknown>>;

const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');
