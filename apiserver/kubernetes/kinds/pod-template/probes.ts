import type {
  ExecAction,
  Handler,
  HTTPGetAction,
  Lifecycle,
  Probe,
  TCPSocketAction,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import { choice, forEachItem, needed, nonNegative, portNumberOrName } from '../rules/primitives';

/** What a node agent calls in a container: probes and lifecycle handlers. */

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** A probe of any sort, where there is one. */
export function validateProbe(probe: Probe | undefined, path: string): FieldError[] {
  if (probe === undefined) return [];
  return [
    ...validateHandler(probe, path),
    ...COUNTS.flatMap((name) => nonNegative(probe[name], `${path}.${name}`)),
  ];
}

/** What a probe cannot say after which nothing is stopped. */
export function noGracePeriod(probe: Probe | undefined, path: string): FieldError[] {
  const grace = probe?.terminationGracePeriodSeconds;
  const why = 'must not be set for readinessProbes';
  return grace === undefined ? [] : [invalid(`${path}.terminationGracePeriodSeconds`, grace, why)];
}

/** Of a liveness or startup probe one success is enough, always. */
export function oneSuccess(probe: Probe | undefined, path: string): FieldError[] {
  if (probe === undefined) return [];
  const { successThreshold: threshold = 0 } = probe;
  return threshold === 1 ? [] : [invalid(`${path}.successThreshold`, threshold, 'must be 1')];
}

/** `lifecycle`, where there is one. */
export function validateLifecycle(lifecycle: Lifecycle | undefined, path: string): FieldError[] {
  const { postStart, preStop } = lifecycle ?? {};
  return [
    ...(postStart === undefined ? [] : validateHandler(postStart, `${path}.postStart`)),
    ...(preStop === undefined ? [] : validateHandler(preStop, `${path}.preStop`)),
  ];
}

const HANDLERS: MemberRules<Handler> = { exec: command, httpGet, tcpSocket };

function validateHandler(handler: Handler, path: string): FieldError[] {
  const [first, ...others] = membersOf(handler, HANDLERS);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...memberErrors(handler, first, HANDLERS, `${path}.${first}`),
    ...others.map((other) => forbiddenField(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ];
}

function command({ command: words = [] }: ExecAction, path: string): FieldError[] {
  return words.length === 0 ? [required(`${path}.command`)] : [];
}

function httpGet(get: HTTPGetAction, path: string): FieldError[] {
  return [
    ...needed(get.path, `${path}.path`),
    ...portNumberOrName(get.port, `${path}.port`),
    ...choice(get.scheme, `${path}.scheme`, ['HTTP', 'HTTPS']),
    ...forEachItem(get.httpHeaders ?? [], `${path}.httpHeaders`, ({ name }) =>
      headerName(name, `${path}.httpHeaders`),
    ),
  ];
}

function headerName(name: string, path: string): FieldError[] {
  if (/^[-A-Za-z0-9]+$/.test(name)) return [];
  const why =
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
  return [invalid(path, name, why)];
}

function tcpSocket({ port }: TCPSocketAction, path: string): FieldError[] {
  return portNumberOrName(port, `${path}.port`);
}
