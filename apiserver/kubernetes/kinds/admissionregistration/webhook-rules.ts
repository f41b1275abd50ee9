import type { RuleWithOperations } from '../../../../shared/api/types/admissionregistration-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goStrings } from '../../../../shared/errors/go-values';
import { choice, forEachItem } from '../rules/primitives';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Which requests a webhook sees. An asterisk stands for everything and therefore alone. */
export function validateWebhookRule(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions: versions = [], resources = [], scope } = rule;
  return [
    ...asteriskAlone(operations, `${path}.operations`, 'operations', 'admissionregistration.OperationType'),
    ...forEachItem(operations, `${path}.operations`, (operation, at) => choice(operation, at, OPERATIONS)),
    ...asteriskAlone(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...asteriskAlone(versions, `${path}.apiVersions`, 'API versions'),
    ...forEachItem(versions, `${path}.apiVersions`, (version, at) => (version === '' ? [required(at)] : [])),
    ...validateResources(resources, `${path}.resources`),
    ...(scope === undefined ? [] : choice(scope, `${path}.scope`, SCOPES)),
  ];
}

function asteriskAlone(values: readonly string[], path: string, what: string, type = 'string'): FieldError[] {
  if (values.length === 0) return [required(path)];
  return values.length > 1 && values.includes('*')
    ? [invalid(path, goStrings(values, type), `if '*' is present, must not specify other ${what}`)]
    : [];
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const firsts = new Map(resources.toReversed().map((each, back) => [each, resources.length - 1 - back]));
  const whole = resources.filter((each) => each !== '' && !each.includes('/'));
  return [
    ...forEachItem(resources, path, (resource, at, index) =>
      resource === ''
        ? [required(at)]
        : coveredBefore(resource, (other) => (firsts.get(other) ?? index) < index, at),
    ),
    ...(resources.length > 1 && resources.includes('*/*')
      ? [invalid(path, resources, "if '*/*' is present, must not specify other resources")]
      : []),
    // Upstream notices the others only behind the asterisk.
    ...(whole.includes('*') && whole.at(-1) !== '*'
      ? [invalid(path, resources, "if '*' is present, must not specify other resources without subresources")]
      : []),
  ];
}

/** `pods/*` covers `pods/status`, and so does an asterisk before the slash; either says too much after the other. */
function coveredBefore(resource: string, isBefore: (other: string) => boolean, path: string): FieldError[] {
  const slash = resource.indexOf('/');
  if (slash < 0) return [];
  const covering = [`${resource.slice(0, slash)}/*`, `*/${resource.slice(slash + 1)}`];
  return covering
    .filter((each) => isBefore(each))
    .map((each) => invalid(path, resource, `if '${each}' is present, must not specify ${resource}`));
}
