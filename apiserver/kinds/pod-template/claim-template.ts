import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, required } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import {
  validateAnnotations,
  validateLabels,
  validateLabelSelector,
} from '../../../shared/meta/validate-labels';
import type { Json } from '../../../shared/object/accessors';
import {
  isZero,
  optionalRecord,
  optionalText,
  record,
  stringMap,
  strings,
  text,
} from '../../../shared/object/accessors';
import { choice, forEachItem, invalidForEach, requiredChoice, requiredText } from '../rules/primitives';
import { positiveQuantity } from '../rules/resource-lists';

/** How the nodes that mount a volume may use it. */
export const ACCESS_MODES: readonly string[] = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];
export const VOLUME_MODES: readonly string[] = ['Block', 'Filesystem'];
const MAY_BE_SET: ReadonlySet<string> = new Set(['labels', 'annotations', 'creationTimestamp']);

/** A claim inside a pod: metadata is labels and annotations, the spec is that of a claim. */
export function validateClaimTemplate(template: Json, path: string): FieldError[] {
  const metadata = record(template['metadata']);
  const at = `${path}.metadata`;
  return [
    ...validateAnnotations(stringMap(metadata['annotations']), `${at}.annotations`),
    ...validateLabels(stringMap(metadata['labels']), `${at}.labels`),
    ...Object.keys(metadata)
      .filter((name) => !MAY_BE_SET.has(name) && !isZero(metadata[name]))
      .map((name) => forbiddenField(`${at}.${name}`, 'is not supported and must not be set')),
    ...validateClaimSpec(record(template['spec']), `${path}.spec`),
  ];
}

/** The spec of a claim. */
export function validateClaimSpec(spec: Json, path: string): FieldError[] {
  const modes = strings(spec['accessModes']);
  const storage = stringMap(record(spec['resources'])['requests'])['storage'];
  const storagePath = `${path}.resources[storage]`;
  const className = text(spec['storageClassName']);
  const volumeMode = optionalText(spec['volumeMode']);
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateLabelSelector(optionalRecord(spec['selector']), `${path}.selector`),
    ...forEachItem(modes, path, (mode) => choice(mode, `${path}.accessModes`, ACCESS_MODES)),
    ...(storage === undefined ? [required(storagePath)] : positiveQuantity(storage, storagePath)),
    ...(className === ''
      ? []
      : invalidForEach(dns1123SubdomainProblems(className), className, `${path}.storageClassName`)),
    ...(volumeMode === undefined ? [] : choice(volumeMode, `${path}.volumeMode`, VOLUME_MODES)),
    ...dataSource(spec, `${path}.dataSource`),
  ];
}

function dataSource(spec: Json, path: string): FieldError[] {
  const source = optionalRecord(spec['dataSource']);
  if (source === undefined) return [];
  const inCore = text(source['apiGroup']) === '';
  return [
    ...requiredText(source['name'], `${path}.name`),
    ...requiredText(source['kind'], `${path}.kind`),
    ...(inCore && text(source['kind']) !== ''
      ? requiredChoice(source['kind'], path, ['PersistentVolumeClaim'])
      : []),
  ];
}
