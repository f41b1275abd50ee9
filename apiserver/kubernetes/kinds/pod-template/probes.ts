import type {
  ExecAction,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodSpec,
  Probe,
  SleepAction,
  TCPSocketAction,
} from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import type { MemberRules } from '../rules/members';
import { memberErrors, membersOf } from '../rules/members';
import { integer } from '../../../../shared/object/accessors';
import type { Int64 } from '../../../../shared/object/values';
import { choice, forEachItem, needed, nonNegative, portNumber, portNumberOrName } from '../rules/primitives';
import { validateStopSignal } from './restart-policies';

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
    ...validateHandler(probe, path, PROBE_HANDLERS),
    ...COUNTS.flatMap((name) => nonNegative(probe[name], `${path}.${name}`)),
    ...(isInForce('probeGracePeriods') ? gracePeriod(probe, `${path}.terminationGracePeriodSeconds`) : []),
  ];
}

function gracePeriod({ terminationGracePeriodSeconds: seconds }: Probe, path: string): FieldError[] {
  return seconds === undefined || (integer(seconds) ?? 0) > 0
    ? []
    : [invalid(path, seconds, 'must be greater than 0')];
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
export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  path: string,
  { terminationGracePeriodSeconds: graceSeconds, os }: PodSpec,
): FieldError[] {
  if (lifecycle === undefined) return [];
  const { postStart, preStop, stopSignal } = lifecycle;
  const rules: MemberRules<LifecycleHandler> = {
    ...HANDLERS,
    sleep: (action, at) => sleep(action, at, integer(graceSeconds)),
  };
  return [
    ...(postStart === undefined ? [] : validateHandler(postStart, `${path}.postStart`, rules)),
    ...(preStop === undefined ? [] : validateHandler(preStop, `${path}.preStop`, rules)),
    ...validateStopSignal(stopSignal, `${path}.stopSignal`, os),
  ];
}

const HANDLERS: MemberRules<Probe & LifecycleHandler> = { exec: command, httpGet, tcpSocket };
const PROBE_HANDLERS: MemberRules<Probe> = {
  ...HANDLERS,
  grpc: ({ port }, path) => portNumber(port, `${path}.port`),
};

function validateHandler<Handler extends Probe | LifecycleHandler>(
  handler: Handler,
  path: string,
  rules: MemberRules<Handler>,
): FieldError[] {
  const [first, ...others] = membersOf(handler, rules);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...memberErrors(handler, first, rules, `${path}.${first}`),
    ...others.map((other) => forbiddenField(`${path}.${other}`, 'may not specify more than 1 handler type')),
  ];
}

/** A pause, within the time that the pod has to end. */
function sleep({ seconds }: SleepAction, path: string, graceSeconds: Int64 | undefined): FieldError[] {
  const given = integer(seconds) ?? 0;
  if (graceSeconds === undefined || (given >= 0 && given <= graceSeconds)) return [];
  const why = `must be non-negative and less than terminationGracePeriodSeconds (${String(graceSeconds)})`;
  return [invalid(path, seconds, why)];
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
