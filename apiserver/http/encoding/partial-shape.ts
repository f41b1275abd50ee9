import { apiVersionOf } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import type { Shape } from './negotiation';
import type { JsonShape } from './object-encoder';
import type { Endpoint } from '../../registry/resource';
import { metadataSource } from './metadata-source';
import { metadataEnd } from './source';

/** Only the metadata of objects, cut out of their bytes, and parsed only where fields stand in it as annotations. */
export function partialShape(endpoint: Endpoint, { version }: Shape): JsonShape {
  const metadataOf = metadataSource(endpoint);
  const apiVersion = apiVersionOf({ group: GROUP.meta, version });
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
    listHead: (metadata) => `${listHead}${JSON.stringify(metadata)},"items":[`,
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

const CLOSE = Buffer.from('}');
