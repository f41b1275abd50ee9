import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { optionalText, strings } from '../../../shared/object/accessors';
import { choice, forEachItem } from '../rules/primitives';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Which requests a webhook sees. An asterisk stands for everything and therefore alone. */
export function validateWebhookRule(rule: Json, path: string): FieldError[] {
  const versions = strings(rule['apiVersions']);
  return [
    ...asteriskAlone(rule['operations'], `${path}.operations`, 'operations'),
    ...forEachItem(strings(rule['operations']), `${path}.operations`, (operation, at) =>
      choice(operation, at, OPERATIONS),
    ),
    ...asteriskAlone(rule['apiGroups'], `${path}.apiGroups`, 'API groups'),
    ...asteriskAlone(versions, `${path}.apiVersions`, 'API versions'),
    ...forEachItem(versions, `${path}.apiVersions`, (version, at) => (version === '' ? [required(at)] : [])),
    ...validateResources(strings(rule['resources']), `${path}.resources`),
    ...(optionalText(rule['scope']) === undefined ? [] : choice(rule['scope'], `${path}.scope`, SCOPES)),
  ];
}

function asteriskAlone(value: unknown, path: string, what: string): FieldError[] {
  const values = strings(value);
  if (values.length === 0) return [required(path)];
  return values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
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
