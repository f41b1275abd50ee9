import type { DeviceTaint, DeviceToleration } from '../../../../shared/api/types/resource-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required, tooLong } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import { formatTime } from '../../../../shared/meta/time';
import { isJsonObject } from '../../../../shared/object/clone';
import { forEachItem, invalidForEach, repeatsIn } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';
import { limitedList } from './lists';

/** Names, conditions, taints and configuration of devices, which claims, slices and rules of taints have in common. */

const POOL_BYTES_MAX = 253;
const ID_BYTES_MAX = 32;
const CONDITIONS_MAX = 4;

/** A driver has the name of a CSI driver; an empty name is only reported as missing. */
export function driverName(name: string, path: string): FieldError[] {
  return name === '' ? [required(path)] : csiDriverName(name, path);
}

/** The name of a device, a request or a counter. */
export function deviceName(name: string, path: string): FieldError[] {
  return invalidForEach(dns1123LabelProblems(name), name, path);
}

/** The name of a pool: subdomains joined by slashes. */
export function poolName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  return [
    ...(Buffer.byteLength(name) > POOL_BYTES_MAX ? [tooLong(path, name, POOL_BYTES_MAX)] : []),
    ...name.split('/').flatMap((part) => invalidForEach(dns1123SubdomainProblems(part), part, path)),
  ];
}

/** The name of an attribute or a capacity: an identifier, with the domain of its driver if it is not the slice's own. */
export function attributeName(name: string, path: string): FieldError[] {
  const [first = '', second, ...more] = name.split('/');
  if (second === undefined) return identifier(first, path);
  // As upstream, a name with more than one slash is valid.
  if (more.length > 0) return [];
  return [
    ...(first === '' ? [invalid(path, '', 'the domain must not be empty')] : driverName(first, path)),
    ...(second === '' ? [invalid(path, '', 'the name must not be empty')] : identifier(second, path)),
  ];
}

/** The name of an attribute with its domain. */
export function qualifiedAttributeName(name: string, path: string): FieldError[] {
  const why = 'a fully qualified name must be a domain and a name separated by a slash';
  return [...attributeName(name, path), ...(name.includes('/') ? [] : [invalid(path, name, why)])];
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const IDENTIFIER_PROBLEM =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

function identifier(name: string, path: string): FieldError[] {
  return [
    ...(Buffer.byteLength(name) > ID_BYTES_MAX ? [tooLong(path, name, ID_BYTES_MAX)] : []),
    ...(IDENTIFIER.test(name) ? [] : [invalid(path, name, IDENTIFIER_PROBLEM)]),
  ];
}

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The identifier of one share of a device, in normalized form. */
export function shareId(uid: string | undefined, path: string): FieldError[] {
  if (uid === undefined || UID.test(uid)) return [];
  const why =
    'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';
  return [invalid(path, uid, why)];
}

/** A JSON object of at most `bytesMax` bytes, as a driver wrote it. An update that leaves it as it is may exceed the limit. */
export function driverData(
  data: unknown,
  path: string,
  { bytesMax, isStored }: { readonly bytesMax: number; readonly isStored: boolean },
): FieldError[] {
  if (data === undefined || data === null) return [required(path)];
  if (!isStored && Buffer.byteLength(JSON.stringify(data)) > bytesMax) return [tooLong(path, '', bytesMax)];
  return isJsonObject(data) ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}

/** The conditions that a device waits for and those that end the wait; neither list is there without the other. */
export function bindingConditions(
  {
    bindingConditions: conditions = [],
    bindingFailureConditions: failures = [],
  }: {
    readonly bindingConditions?: readonly string[];
    readonly bindingFailureConditions?: readonly string[];
  },
  path: string,
): FieldError[] {
  const [at, failuresAt] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`];
  const isRepeated = repeatsIn(conditions);
  const isFailureRepeated = repeatsIn(failures);
  const rule = (name: string, each: string): FieldError[] => labelName(name, each);
  return [
    ...limitedList(conditions, at, { max: CONDITIONS_MAX, rule }),
    ...limitedList(failures, failuresAt, { max: CONDITIONS_MAX, rule }),
    ...forEachItem(conditions, at, (name, each, index) => (isRepeated(index) ? [duplicate(each, name)] : [])),
    ...forEachItem(failures, failuresAt, (name, each, index) => [
      ...(isFailureRepeated(index) ? [duplicate(each, name)] : []),
      ...(conditions.includes(name)
        ? [invalid(each, name, 'bindingFailureConditions must not overlap with bindingConditions')]
        : []),
    ]),
    ...(conditions.length === 0 && failures.length > 0
      ? [invalid(at, undefined, 'bindingConditions are required to use bindingFailureConditions')]
      : []),
    ...(failures.length === 0 && conditions.length > 0
      ? [invalid(failuresAt, undefined, 'bindingFailureConditions are required to use bindingConditions')]
      : []),
  ];
}

function labelName(name: string, path: string): FieldError[] {
  return invalidForEach(qualifiedNameProblems(name), name, path);
}

const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const OPERATORS = ['Equal', 'Exists'];

/** Fills in when a taint was added: now, in whole seconds, unless the client says. */
export function withTimeAdded(taint: DeviceTaint, nowMs: number): DeviceTaint {
  return taint.timeAdded === undefined ? { ...taint, timeAdded: formatTime(nowMs) } : taint;
}

/** Validates a taint; an update may keep an unknown effect. */
export function deviceTaint(taint: DeviceTaint, path: string, previous?: DeviceTaint): FieldError[] {
  const { key, value = '', effect } = taint;
  return [
    ...labelName(key, `${path}.key`),
    ...invalidForEach(labelValueProblems(value), value, `${path}.value`),
    ...(previous !== undefined && previous.effect === effect ? [] : taintEffect(effect, `${path}.effect`)),
  ];
}

function taintEffect(effect: string, path: string): FieldError[] {
  if (effect === '') return [required(path)];
  return EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)];
}

/** Validates a toleration of a claim. */
export function deviceToleration(toleration: DeviceToleration, path: string): FieldError[] {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  return [
    ...(key === '' ? [] : labelName(key, `${path}.key`)),
    ...(operator === '' ? [required(`${path}.operator`)] : []),
    ...(operator === '' || OPERATORS.includes(operator)
      ? []
      : [notSupported(`${path}.operator`, operator, OPERATORS)]),
    ...(operator === 'Exists' && value !== ''
      ? [invalid(`${path}.value`, value, 'must be empty for operator `Exists`')]
      : []),
    ...(operator === 'Equal' ? invalidForEach(labelValueProblems(value), value, `${path}.value`) : []),
    ...(effect === '' ? [] : taintEffect(effect, `${path}.effect`)),
  ];
}
