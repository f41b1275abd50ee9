import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { compareQuantity, ZERO_QUANTITY } from '../../../../shared/meta/quantity';
import { invalidForEach } from '../rules/primitives';
import { quantityOf } from './resource-requirements';

/** References from a container to fields of its own pod: `fieldRef` and `resourceFieldRef`. */

const HOST_IPS = 'status.hostIPs';

/** What environment variables may show. */
export function envFields(): readonly string[] {
  return isInForce('hostIPsInVariables') ? [...ENV_FIELDS, HOST_IPS] : ENV_FIELDS;
}

const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];
/** What files may show. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** All fields that have a path at all; `spec.host` is an old name. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
const MAPS = ['metadata.annotations', 'metadata.labels'];

/** `fieldRef`: the path of a field, of those allowed here, or of one label or annotation. */
export function validateFieldRef(
  { apiVersion = '', fieldPath: given }: ObjectFieldSelector,
  path: string,
  allowed: readonly string[],
): FieldError[] {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (given === '') return [required(`${path}.fieldPath`)];
  const subscripted = splitSubscript(given);
  const problem = labelProblem(apiVersion, given, subscripted?.map);
  if (problem !== undefined) {
    return [invalid(`${path}.fieldPath`, given, `error converting fieldPath: ${problem}`)];
  }
  if (subscripted !== undefined) {
    const { map, key } = subscripted;
    const name = map === 'metadata.annotations' ? key.toLowerCase() : key;
    return invalidForEach(qualifiedNameProblems(name), key, path);
  }
  const meant = given === 'spec.host' ? 'spec.nodeName' : given;
  return allowed.includes(meant) ? [] : [notSupported(`${path}.fieldPath`, meant, allowed)];
}

interface Subscripted {
  readonly map: string;
  readonly key: string;
}

/** The parts of `map['key']`. */
function splitSubscript(given: string): Subscripted | undefined {
  const at = given.indexOf(OPENING);
  if (at <= 0 || !given.endsWith(CLOSING) || given.length < at + OPENING.length + CLOSING.length) {
    return undefined;
  }
  return { map: given.slice(0, at), key: given.slice(at + OPENING.length, -CLOSING.length) };
}

const OPENING = "['";
const CLOSING = "']";

/** Explains why a field is not supported; `map` is the field before a subscript, if any. */
function labelProblem(apiVersion: string, label: string, map: string | undefined): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (map === undefined) {
    const isKnown = KNOWN_FIELDS.has(label) || (label === HOST_IPS && isInForce('hostIPsInVariables'));
    return isKnown ? undefined : `field label not supported: ${label}`;
  }
  return MAPS.includes(map) ? undefined : `field label does not support subscript: ${label}`;
}

const RESOURCE_FIELDS = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);
const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** `resourceFieldRef`: a limit or request of a container. A file must name the container; a variable is in it. */
export function validateResourceFieldRef(
  reference: ResourceFieldSelector,
  path: string,
  { inVolume }: { readonly inVolume: boolean },
): FieldError[] {
  const { containerName = '', resource } = reference;
  return [
    ...resourceField(resource, path, inVolume && containerName === ''),
    ...divisor(resource, reference.divisor, `${path}.divisor`),
  ];
}

function resourceField(resource: string, path: string, lacksContainer: boolean): FieldError[] {
  if (lacksContainer) return [required(`${path}.containerName`)];
  if (resource === '') return [required(`${path}.resource`)];
  if (RESOURCE_FIELDS.includes(resource)) return [];
  const error = notSupported(`${path}.resource`, resource, RESOURCE_FIELDS);
  if (HUGE_PAGES.test(resource)) hugePageRefusals.add(error);
  return [error];
}

/** They are no errors where the feature is on, of which the rules of a container know nothing. */
const hugePageRefusals = new WeakSet<FieldError>();

/** Whether the error is nothing but that huge pages were referred to. */
export function isRefusedHugePageReference(error: FieldError): boolean {
  return hugePageRefusals.has(error);
}

export function isHugePageReference(reference: ResourceFieldSelector | undefined): boolean {
  return HUGE_PAGES.test(reference?.resource ?? '');
}

function divisor(resource: string, given: string, path: string): FieldError[] {
  if (given === '' || compareQuantity(quantityOf(given), ZERO_QUANTITY) === 0) return [];
  const what = countedBy(resource);
  if (what === undefined) return [];
  const isCpu = what === 'cpu';
  const allowed = isCpu ? CPU_DIVISORS : BYTE_DIVISORS;
  if (allowed.includes(given)) return [];
  const why = isCpu
    ? "only divisor's values 1m and 1 are supported with the cpu resource"
    : `only divisor's values ${allowed.join(', ')} are supported with the ${what} resource`;
  return [invalid(path, resource, why)];
}

/** What the resource is called where its divisor is wrong; undefined for resources that have none. */
function countedBy(resource: string): string | undefined {
  if (HUGE_PAGES.test(resource)) return 'hugepages';
  if (!RESOURCE_FIELDS.includes(resource)) return undefined;
  if (resource.endsWith('.cpu')) return 'cpu';
  return resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage';
}

/** Their feature is off by default in v1.21, so that the resource is refused besides. */
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;
