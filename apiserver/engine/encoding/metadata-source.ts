import { isJsonObject } from '../../../shared/object/clone';
import { stringifyExact } from '../../../shared/object/exact-text';
import { decodeJson } from '../../../shared/schema/decode';
import { kindOf } from '../../kubernetes/kinds/kinds';
import type { Endpoint } from '../registry/resource';
import type { Source } from './source';
import { kept, metadataEnd } from './source';

/**
 * What the metadata of an endpoint's objects is cut out of: the objects themselves, but for kinds of which some fields are stored as
 * annotations. Those belong to the object, and not to its metadata.
 */
export function metadataSource(endpoint: Endpoint): (source: Source) => Source {
  const { hub, resource } = endpoint.row;
  const hidden = hiddenAnnotations(endpoint);
  if (hidden.length === 0) return (source) => source;
  const id = `metadata ${hub.group}/${resource}`;
  return (source) => ({
    bytes: kept(source, id, () => withoutAnnotations(source, hidden)),
    transient: true,
  });
}

/** Annotations that are no part of the metadata of the endpoint's objects: where there are some, metadata is parsed to be shown. */
export function hiddenAnnotations({ custom, row: { hub, resource } }: Endpoint): readonly string[] {
  return custom === undefined ? (kindOf(hub.group, resource).fieldAnnotations ?? []) : [];
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
