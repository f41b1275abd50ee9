import type {
  ConfigMapNodeConfigSource,
  NodeConfigSource,
  NodeConfigStatus,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Problems } from '../rules/primitives';
import { configKeyProblems, invalidForEach } from '../rules/primitives';

/** Where the agent of a node finds its configuration; upstream looks at it when a node changes, and not at a new one. */

/** `spec.configSource`: what is wanted. */
export function validateConfigSource(source: NodeConfigSource, path: string): FieldError[] {
  return oneSource(source, path, ({ uid = '', resourceVersion = '' }, at) => [
    ...(uid === '' ? [] : [forbiddenField(`${at}.uid`, 'uid must not be set in spec')]),
    ...(resourceVersion === ''
      ? []
      : [forbiddenField(`${at}.resourceVersion`, 'resourceVersion must not be set in spec')]),
  ]);
}

const USED = ['assigned', 'active', 'lastKnownGood'] as const;

/** `status.config`: what is used. */
export function validateConfigStatus(status: NodeConfigStatus, path: string): FieldError[] {
  return USED.flatMap((name) => {
    const { [name]: source } = status;
    if (source === undefined) return [];
    return oneSource(source, `${path}.${name}`, ({ uid = '', resourceVersion = '' }, at) => [
      ...(uid === '' ? [required(`${at}.uid`, 'uid must be set in status')] : []),
      ...(resourceVersion === ''
        ? [required(`${at}.resourceVersion`, 'resourceVersion must be set in status')]
        : []),
    ]);
  });
}

function oneSource(
  source: NodeConfigSource,
  path: string,
  identity: (source: ConfigMapNodeConfigSource, path: string) => readonly FieldError[],
): FieldError[] {
  const { configMap } = source;
  if (configMap === undefined) {
    return [invalid(path, source, 'exactly one reference subfield must be non-nil')];
  }
  const at = `${path}.configMap`;
  return [
    ...identity(configMap, at),
    ...part(configMap.namespace, `${at}.namespace`, dns1123LabelProblems),
    ...part(configMap.name, `${at}.name`, dns1123SubdomainProblems),
    ...part(configMap.kubeletConfigKey, `${at}.kubeletConfigKey`, configKeyProblems),
  ];
}

function part(value: string, path: string, problems: Problems): FieldError[] {
  if (value !== '') return invalidForEach(problems(value), value, path);
  return [required(path, `${path.slice(path.lastIndexOf('.') + 1)} must be set`)];
}
