import { isInForce } from '../../../../shared/api/changes';
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import {
  validateAnnotations,
  validateLabels,
  validateLabelSelector,
} from '../../../../shared/meta/validate-labels';
import { isZero } from '../../../../shared/object/accessors';
import type { ObjectMeta } from '../../../../shared/object/object';
import {
  choice,
  forEachItem,
  invalidForEach,
  optionalForm,
  optionalSubdomain,
  requiredText,
} from '../rules/primitives';
import { positiveQuantity } from '../rules/resource-lists';

/** How the nodes that mount a volume may use it. */
const ONE_POD = 'ReadWriteOncePod';
const ACCESS_MODES: readonly string[] = [
  'ReadOnlyMany',
  'ReadWriteMany',
  'ReadWriteOnce',
  ...(isInForce('accessOfOnePod') ? [ONE_POD] : []),
];

/** Validates how nodes use a volume; access by one pod excludes all others. Errors are at the list. */
export function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  const isMixed = known.includes(ONE_POD) && known.some((mode) => mode !== ONE_POD);
  return [
    ...forEachItem(modes, path, (mode) => choice(mode, path, ACCESS_MODES)),
    ...(isMixed ? [forbiddenField(path, 'may not use ReadWriteOncePod with other access modes')] : []),
  ];
}

export const VOLUME_MODES: readonly string[] = ['Block', 'Filesystem'];
const MAY_BE_SET: ReadonlySet<string> = new Set<keyof ObjectMeta>(['labels', 'annotations']);
/** How much a volume holds, among the resources of a claim. */
export const STORAGE = 'storage';

/** A claim inside a pod: metadata is labels and annotations, the spec is that of a claim. */
export function validateClaimTemplate(
  { metadata, spec }: PersistentVolumeClaimTemplate,
  path: string,
): FieldError[] {
  return [
    ...validateTemplateMetadata(metadata, `${path}.metadata`, 'cannot be set for an ephemeral volume'),
    ...validateClaimSpec(spec, `${path}.spec`),
  ];
}

/** Metadata of a template has labels and annotations; `why` is the message for other fields. */
export function validateTemplateMetadata(metadata: ObjectMeta, path: string, why: string): FieldError[] {
  return [
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...validateLabels(metadata.labels, `${path}.labels`),
    ...Object.entries(metadata)
      .filter(([name, value]) => !MAY_BE_SET.has(name) && !isZero(value))
      .map(([name]) => forbiddenField(`${path}.${goName(name)}`, why)),
  ];
}

/** Upstream makes the path of the name in its source, where only one letter is small. */
function goName(field: string): string {
  return field === 'uid' ? 'uID' : field;
}

/** The spec of a claim. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): FieldError[] {
  const { accessModes: modes = [], storageClassName: className = '', volumeMode } = spec;
  const storage = spec.resources.requests?.[STORAGE];
  const storagePath = `${path}.resources[${STORAGE}]`;
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateLabelSelector(spec.selector, `${path}.selector`),
    ...validateAccessModes(modes, `${path}.accessModes`),
    ...(storage === undefined ? [required(storagePath)] : positiveQuantity(storage, storagePath)),
    ...(className === ''
      ? []
      : invalidForEach(dns1123SubdomainProblems(className), className, `${path}.storageClassName`)),
    ...(volumeMode === undefined ? [] : choice(volumeMode, `${path}.volumeMode`, VOLUME_MODES)),
    ...(spec.dataSource === undefined ? [] : dataSource(spec.dataSource, `${path}.dataSource`)),
    ...validateReference(spec, path),
    ...optionalSubdomain(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`),
  ];
}

function dataSource({ apiGroup, name, kind }: TypedLocalObjectReference, path: string): FieldError[] {
  const inCore = (apiGroup ?? '') === '';
  return [
    ...requiredText(name, `${path}.name`),
    ...requiredText(kind, `${path}.kind`),
    ...(inCore && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, isInForce('dataSourceRefs') ? IN_CORE : '')]
      : []),
    ...(inCore || !isInForce('dataSourceRefs') ? [] : optionalSubdomain(apiGroup, `${path}.apiGroup`)),
  ];
}

const IN_CORE = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";

/** The newer field for a source, which may be in another namespace. */
function validateReference(
  { dataSource: source, dataSourceRef: ref }: PersistentVolumeClaimSpec,
  path: string,
): FieldError[] {
  if (ref === undefined) return [];
  const namespace = ref.namespace ?? '';
  const isSame =
    source === undefined ||
    (source.kind === ref.kind &&
      source.name === ref.name &&
      (source.apiGroup ?? '') === (ref.apiGroup ?? ''));
  return [
    ...dataSource(ref, `${path}.dataSourceRef`),
    ...optionalForm(namespace, `${path}.dataSourceRef.namespace`, dns1123LabelProblems),
    ...(namespace === '' && !isSame ? [invalid(path, {}, 'must match dataSourceRef')] : []),
    ...(namespace !== '' && source !== undefined
      ? [invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified')]
      : []),
  ];
}
