import type { WantedMembers } from '../watch-cache/state/pick-json';
import { pickJson, wantedMembers } from '../watch-cache/state/pick-json';
import { withMember } from '../watch-cache/entry-layout';
import { stringifyExact } from '../../../shared/object/exact-text';
import { decodeJson } from '../../../shared/schema/decode';
import type { Endpoint } from '../registry/resource';
import { EncodedCache, PROCESS_BUDGET } from './encoded-cache';
import type { JsonShape } from './object-encoder';
import type { Source } from './source';
import { metadataEnd } from './source';

/** The target of links: this endpoint, and this subresource of the object (empty: the object). */
export interface LinkPlace {
  readonly endpoint: Pick<Endpoint, 'row' | 'apiVersion'>;
  readonly subresource: string;
}

interface Named {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Adds a link to the metadata of an object. */
export type LinkSource = (source: Source) => Source;

const LINKED = new EncodedCache<Source>(PROCESS_BUDGET, ({ bytes }) => bytes.length);

/**
 * Formats `metadata.selfLink` as v1.21; undefined for an object without a name. Source:
 * ContextBasedNaming.GenerateLink.
 */
export function selfLinkOf(
  { endpoint, subresource }: LinkPlace,
  { name = '', namespace = '' }: Named,
): string | undefined {
  if (name === '') return undefined;
  const { row, apiVersion } = endpoint;
  const head = `/${row.group === '' ? 'api' : 'apis'}/${apiVersion}`;
  const tail = subresource === '' ? '' : `/${subresource}`;
  // Upstream escapes names of cluster-scoped objects as part of a query, including colons.
  if (!row.namespaced) return `${head}/${row.resource}/${queryEscaped(name)}${tail}`;
  return pathEscaped(`${head}/namespaces/${namespace}/${row.resource}/${name}${tail}`);
}

/** Returns an id; equal ids mean equal links. */
export function linkPlaceId({ endpoint, subresource }: LinkPlace): string {
  return `linked ${endpoint.apiVersion}/${endpoint.row.resource}/${subresource}`;
}

/** Sets the link of objects, replacing any other. Results are cached by entry. */
export function linking(place: LinkPlace): LinkSource {
  const id = linkPlaceId(place);
  return (source) =>
    source.transient === true ? linked(place, source) : LINKED.get(source, id, () => linked(place, source));
}

/** Wraps a shape to show links. */
export function linkedShape(shape: JsonShape, place: LinkPlace): JsonShape {
  const withLink = linking(place);
  return {
    ...shape,
    id: `${shape.id} ${linkPlaceId(place)}`,
    object: (source) => shape.object(withLink(source)),
    inFrame: (source) => shape.inFrame(withLink(source)),
    element: (batch, source) => shape.element(batch, withLink(source)),
    isReady: false,
  };
}

function linked(place: LinkPlace, source: Source): Source {
  const { fields, isShown, transient } = source;
  const metadata = pickJson(source.bytes.subarray(METADATA_NAME_BYTES), WANTED);
  const selfLink = selfLinkOf(place, metadata);
  if (selfLink === undefined) return source;
  const bytes = withMember('selfLink' in metadata ? withoutLink(source) : source.bytes, 'selfLink', selfLink);
  return {
    bytes,
    selfLink,
    ...(fields === undefined ? {} : { fields }),
    ...(isShown === undefined ? {} : { isShown }),
    ...(transient === undefined ? {} : { transient }),
  };
}

/** Removes a link. Only unstored objects (dry run) can have one. */
function withoutLink(source: Source): Buffer {
  const end = metadataEnd(source);
  const { selfLink: _own, ...metadata } = decodeJson(
    source.bytes.subarray(METADATA_NAME_BYTES, end),
  ) as Record<string, unknown>;
  return Buffer.concat([Buffer.from(`"metadata":${stringifyExact(metadata)}`), source.bytes.subarray(end)]);
}

const METADATA_NAME_BYTES = '"metadata":'.length;
const WANTED: WantedMembers = wantedMembers(['name', 'namespace', 'selfLink']);

/** Escapes as Go’s `url.QueryEscape`. */
function queryEscaped(text: string): string {
  return encodeURIComponent(wellFormed(text))
    .replace(/[!'()*]/g, escaped)
    .replaceAll('%20', '+');
}

/** Escapes a path as Go does if any character needs it. */
function pathEscaped(path: string): string {
  return encodeURI(wellFormed(path)).replace(/[!'()*?#]/g, escaped);
}

/** Replaces lone surrogates, which cannot be encoded. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
