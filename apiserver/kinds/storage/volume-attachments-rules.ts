import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, required, tooLong } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, optionalText, record, stringMap, text } from '../../../shared/object/accessors';
import { immutable, invalidForEach } from '../rules/primitives';
import { labelSelector } from '../rules/label-selectors';
import { nonNegativeQuantity } from '../pod-template/resource-requirements';
import { csiDriverName } from '../rules/storage-drivers';

const MESSAGE_BYTES_MAX = 262_144;
const METADATA_BYTES_MAX = 262_144;

/** An attachment is of one volume to one node for ever; its status tells how far it is. */
export const volumeAttachmentRules: Pick<
  Strategy,
  'validate' | 'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validate: (object) => {
    const spec = record(object['spec']);
    const node = text(spec['nodeName']);
    return [
      ...(text(spec['attacher']) === '' ? [required('spec.attacher')] : []),
      ...validateSource(record(spec['source'])),
      ...invalidForEach(dns1123SubdomainProblems(node), node, 'spec.nodeName'),
      ...validateStatus(record(object['status'])),
    ];
  },
  validateNew: (object, { via }) => (via.version === 'v1' ? validateNames(record(object['spec'])) : []),
  validateUpdate: (next, previous) => immutable(next['spec'], previous['spec'], 'spec'),
  subresources: {
    status: { ...statusSubresource, validateUpdate: (next) => validateStatus(record(next['status'])) },
  },
};

function validateSource(source: Json): FieldError[] {
  const path = 'spec.source';
  const volume = optionalText(source['persistentVolumeName']);
  const inline = optionalRecord(source['inlineVolumeSpec']);
  if (inline !== undefined) {
    return volume === undefined
      ? []
      : [forbiddenField(path, 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')];
  }
  if (volume === undefined) {
    return [required(path, 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')];
  }
  return volume === '' ? [required(`${path}.persistentVolumeName`, 'must specify non empty')] : [];
}

/** The stricter forms of v1. */
function validateNames(spec: Json): FieldError[] {
  const volume = optionalText(record(spec['source'])['persistentVolumeName']) ?? '';
  return [
    ...(text(spec['attacher']) === '' ? [] : csiDriverName(spec['attacher'], 'spec.attacher')),
    ...(volume === ''
      ? []
      : invalidForEach(dns1123SubdomainProblems(volume), volume, 'spec.source.persistentVolumeName')),
  ];
}

function validateStatus(status: Json): FieldError[] {
  const bytes = Object.entries(stringMap(status['attachmentMetadata'])).reduce(
    (sum, each) => sum + Buffer.byteLength(each.join('')),
    0,
  );
  return [
    ...(bytes > METADATA_BYTES_MAX ? [tooLong('status.attachmentMetadata', '', METADATA_BYTES_MAX)] : []),
    ...['attachError', 'detachError'].flatMap((field) => {
      const message = text(record(status[field])['message']);
      return Buffer.byteLength(message) > MESSAGE_BYTES_MAX
        ? [tooLong(`status.${field}.message`, message, MESSAGE_BYTES_MAX)]
        : [];
    }),
  ];
}

/** How much of a class a part of the cluster can still give. */
export const storageCapacityRules: Pick<Strategy, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const name = text(object['storageClassName']);
    return [
      ...invalidForEach(dns1123SubdomainProblems(name), name, 'storageClassName'),
      ...labelSelector(object['nodeTopology'], 'nodeTopology'),
      ...['capacity', 'maximumVolumeSize'].flatMap((field) =>
        object[field] === undefined ? [] : nonNegativeQuantity(object[field], field),
      ),
    ];
  },
  validateUpdate: (next, previous) =>
    ['nodeTopology', 'storageClassName'].flatMap((field) => immutable(next[field], previous[field], field)),
};
