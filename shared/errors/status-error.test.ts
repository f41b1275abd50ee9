import { invalid, invalidObject } from './field-error';
import type { StatusError } from './status-error';
import { alreadyExists, conflict, forbidden, notFound } from './status-error';

const CONFIGMAPS = { group: '', resource: 'configmaps' };

test.each<[string, (name: string) => StatusError]>([
  ['configmaps $ not found', (name) => notFound(CONFIGMAPS, name)],
  ['configmaps $ already exists', (name) => alreadyExists(CONFIGMAPS, name)],
  ['Operation cannot be fulfilled on configmaps $: why', (name) => conflict(CONFIGMAPS, name, 'why')],
  ['configmaps $ is forbidden: why', (name) => forbidden(CONFIGMAPS, name, 'why')],
  [
    'ConfigMap $ is invalid: data: Invalid value: 1: why',
    (name) => invalidObject({ group: '', kind: 'ConfigMap' }, name, [invalid('data', 1, 'why')]),
  ],
])('a name is quoted as by %%q: %s', (message, errorOf) => {
  expect(errorOf('web').message).toBe(message.replace('$', '"web"'));
  const { status } = errorOf('a"b\n\u001b[31m');
  expect(status.message).toBe(message.replace('$', String.raw`"a\"b\n\x1b[31m"`));
  expect(status.details?.name).toBe('a"b\n\u001b[31m');
});
