import type { ListMeta } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import type { Shape } from './negotiation';
import type { JsonShape } from './object-encoder';
import type { Endpoint } from '../registry/resource';
import { metadataSource } from './metadata-source';
import { metadataEnd } from './source';

/** Shows only the metadata of objects, cut out of their bytes. It is parsed only if annotations must be hidden. */
export function partialShape(endpoint: Endpoint, shape: Shape): JsonShape {
  const { version } = shape;
  const metadataOf = metadataSource(endpoint);
  const apiVersion = apiVersionOf(shape);
  const head = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},`);
  const listHead = `{"kind":"PartialObjectMetadataList","apiVersion":${JSON.stringify(apiVersion)},"metadata":`;
  const object: JsonShape['object'] = (source) => {
    const metadata = metadataOf(source);
    return [head, metadata.bytes.subarray(0, metadataEnd(metadata)), CLOSE];
  };
  return {
    id: `${apiVersion} PartialObjectMetadata`,
    object,
    inFrame: object,
    bookmark: (metadata) => [head, Buffer.from(`"metadata":${JSON.stringify(metadata)}}`)],
    listHead: (metadata) => `${listHead}${JSON.stringify(listed(metadata, { version }))},"items":[`,
    isNullWhenEmpty: true,
    element: (batch, source) => {
      const metadata = metadataOf(source);
      batch.bytes(head);
      batch.bytes(metadata.bytes, metadataEnd(metadata));
      batch.bytes(CLOSE);
    },
    stream: (frames) => frames,
  };
}

/** As in v1.21, v1beta1 has no remainingItemCount. */
function listed(
  { remainingItemCount, ...metadata }: ListMeta,
  { version }: Pick<Shape, 'version'>,
): ListMeta {
  return version === 'v1beta1' || remainingItemCount === undefined
    ? metadata
    : { ...metadata, remainingItemCount };
}

const CLOSE = Buffer.from('}');
