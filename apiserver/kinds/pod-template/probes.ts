import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { integer, optionalRecord, record, records, strings, text } from '../../../shared/object/accessors';
import type { Rule } from '../rules/primitives';
import { choice, forEachItem, needed, nonNegative, portNumberOrName } from '../rules/primitives';

/** What a node agent calls in a container: probes and lifecycle handlers. */

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

/** A probe of any sort, where there is one. */
export function validateProbe(value: unknown, path: string): FieldError[] {
  const probe = optionalRecord(value);
  if (probe === undefined) return [];
  const grace = integer(probe['terminationGracePeriodSeconds']);
  return [
    ...validateHandler(probe, path),
    ...COUNTS.flatMap((name) => nonNegative(probe[name], `${path}.${name}`)),
    ...(grace !== undefined && grace <= 0
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

/** A liveness or startup probe: one success is enough, always. */
export function validateRestartingProbe(value: unknown, path: string): FieldError[] {
  const probe = optionalRecord(value);
  if (probe === undefined) return [];
  const threshold = integer(probe['successThreshold']) ?? 0;
  return [
    ...validateProbe(probe, path),
    ...(threshold === 1 ? [] : [invalid(`${path}.successThreshold`, threshold, 'must be 1')]),
  ];
}

/** `lifecycle`, where there is one. */
export function validateLifecycle(value: unknown, path: string): FieldError[] {
  const lifecycle = record(value);
  return ['postStart', 'preStop'].flatMap((name) => {
    const handler = optionalRecord(lifecycle[name]);
    return handler === undefined ? [] : validateHandler(handler, `${path}.${name}`);
  });
}

const HANDLERS: Readonly<Record<string, Rule>> = { exec: command, httpGet, tcpSocket };

function validateHandler(handler: Json, path: string): FieldError[] {
  const [first, ...others] = Object.entries(HANDLERS).filter(
    ([name]) => optionalRecord(handler[name]) !== undefined,
  );
  if (first === undefined) return [required(path, 'must specify a handler type')];
  const [name, rule] = first;
  return [
    ...rule(handler[name], `${path}.${name}`),
    ...others.map(([other]) =>
      forbiddenField(`${path}.${other}`, 'may not specify more than 1 handler type'),
    ),
  ];
}

function command(value: unknown, path: string): FieldError[] {
  return strings(record(value)['command']).length === 0 ? [required(`${path}.command`)] : [];
}

function httpGet(value: unknown, path: string): FieldError[] {
  const get = record(value);
  return [
    ...needed(get['path'], `${path}.path`),
    ...portNumberOrName(get['port'], `${path}.port`),
    ...choice(get['scheme'], `${path}.scheme`, ['HTTP', 'HTTPS']),
    ...forEachItem(records(get['httpHeaders']), `${path}.httpHeaders`, (header) =>
      headerName(text(header['name']), `${path}.httpHeaders`),
    ),
  ];
}

function headerName(name: string, path: string): FieldError[] {
  if (/^[-A-Za-z0-9]+$/.test(name)) return [];
  const why =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
  return [invalid(path, name, why)];
}

function tcpSocket(value: unknown, path: string): FieldError[] {
  return portNumberOrName(record(value)['port'], `${path}.port`);
}
