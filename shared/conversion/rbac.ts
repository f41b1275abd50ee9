import type { ApiObject } from '../object/object';
import { apiVersionOf } from '../object/object';
import { GROUP, USER_GROUP } from '../names';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeList, textAt, without } from '../object/json';

/**
 * A subject of rbac/v1alpha1 has the apiVersion of its kind, later versions only the group. The user `*` means
 * all authenticated users.
 */
export const SUBJECTS: Conversion = {
  toHub: (object) => changeList(object, 'subjects', withGroup) as ApiObject,
  fromHub: (object) => changeList(object, 'subjects', withApiVersion) as ApiObject,
  settles: true,
};

const OWN_VERSION = apiVersionOf({ group: GROUP.rbac, version: 'v1alpha1' });

function withGroup(subject: ReadonlyJson): ReadonlyJson {
  const rest = without(subject, 'apiVersion');
  const kind = textAt(subject, 'kind');
  if (kind === 'User' && subject['name'] === '*') {
    return { ...rest, kind: 'Group', apiGroup: GROUP.rbac, name: USER_GROUP.authenticated };
  }
  const group = groupOf(kind, textAt(subject, 'apiVersion'));
  return group === '' ? rest : { ...rest, apiGroup: group };
}

function groupOf(kind: string, apiVersion: string): string {
  if (kind === 'ServiceAccount') return '';
  if (kind === 'User' || kind === 'Group') return GROUP.rbac;
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/**
 * A kind without its group keeps the apiVersion as it is, since ownership is compared before defaults are
 * applied.
 */
function withApiVersion(subject: ReadonlyJson): ReadonlyJson {
  const rest = without(subject, 'apiGroup');
  const apiVersion = versionOf(textAt(subject, 'kind'), textAt(subject, 'apiGroup'));
  return apiVersion === '' ? rest : { ...rest, apiVersion };
}

function versionOf(kind: string, group: string): string {
  if (kind === 'ServiceAccount' && group === '') return 'v1';
  if ((kind === 'User' || kind === 'Group') && group === GROUP.rbac) return OWN_VERSION;
  return group === '' ? '' : `${group}/`;
}
