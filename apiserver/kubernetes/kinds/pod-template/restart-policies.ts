import type {
  Container,
  ContainerResizePolicy,
  ContainerRestartRule,
  PodOS,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../../shared/errors/field-error';
import { choice, forEachItem, requiredChoice } from '../rules/primitives';
import { byLaterRule } from './later-rules';
import { WINDOWS } from './operating-system';

/** How single containers restart, stop and are resized. Source: validateContainerRestartPolicy and its neighbours, v1.36. */

const ALWAYS = 'Always';
const POLICIES = [ALWAYS, 'Never', 'OnFailure'];
const ACTIONS = ['Restart', 'RestartAllContainers'];
const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;

/** True for an init container that runs as long as the pod does. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === ALWAYS;
}

/** `restartPolicy` and `restartPolicyRules` of a container; `path` is that of the container. */
export function validateRestartPolicy(
  { restartPolicy: policy, restartPolicyRules: rules = [] }: Container,
  path: string,
): readonly FieldError[] {
  if (policy === undefined && rules.length === 0) return [];
  const at = `${path}.restartPolicyRules`;
  return [
    ...(policy === undefined
      ? [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')]
      : choice(policy, `${path}.restartPolicy`, POLICIES)),
    ...(rules.length > RULES_MAX ? [tooMany(at, rules.length, RULES_MAX)] : []),
    ...forEachItem(rules, at, restartRule),
  ];
}

function restartRule({ action = '', exitCodes }: ContainerRestartRule, path: string): readonly FieldError[] {
  const errors = choice(action, `${path}.action`, ACTIONS);
  if (exitCodes === undefined) return [...errors, required(`${path}.exitCodes`, 'must be specified')];
  const { operator = '', values = [] } = exitCodes;
  const at = `${path}.exitCodes`;
  return [
    ...errors,
    ...choice(operator, `${at}.operator`, ['In', 'NotIn']),
    ...(values.length > EXIT_CODES_MAX ? [tooMany(`${at}.values`, values.length, EXIT_CODES_MAX)] : []),
  ];
}

const RESTART = 'RestartContainer';
const KEEP = 'NotRequired';

/** `resizePolicy` of a container. Upstream gives no index to values that are not supported. */
export function validateResizePolicy(
  policies: readonly ContainerResizePolicy[] | undefined,
  path: string,
  podRestartPolicy: string | undefined,
): readonly FieldError[] {
  const resources = new Set<string>();
  return forEachItem(policies ?? [], path, ({ resourceName: name, restartPolicy: policy }, at) => {
    const again = resources.has(name);
    resources.add(name);
    return [
      ...(again ? [duplicate(at, name)] : []),
      ...requiredChoice(name, path, ['cpu', 'memory']),
      ...requiredChoice(policy, path, [KEEP, RESTART]),
      ...(podRestartPolicy === 'Never' && policy !== KEEP
        ? [invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
        : []),
    ];
  });
}

/** An init container that ends is not restarted when its resources change. */
export function validateInitResizePolicy(
  policies: readonly ContainerResizePolicy[] | undefined,
  path: string,
): readonly FieldError[] {
  const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
  return byLaterRule(
    'resize policy of init containers',
    forEachItem(policies ?? [], path, ({ restartPolicy: policy }, at) =>
      policy === RESTART ? [invalid(`${at}.restartPolicy`, policy, why)] : [],
    ),
  );
}

const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM'];
const LINUX_SIGNALS: readonly string[] = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM'.split(
    ' ',
  ),
  ...'TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(' '),
  ...Array.from({ length: 15 }, (_, at) => `RTMIN+${String(at + 1)}`),
  ...Array.from({ length: 14 }, (_, at) => `RTMAX-${String(at + 1)}`),
].map((name) => `SIG${name}`);

/** `lifecycle.stopSignal`, whose values depend on the operating system. */
export function validateStopSignal(
  signal: string | undefined,
  path: string,
  os: PodOS | undefined,
): readonly FieldError[] {
  if (signal === undefined) return [];
  if (os === undefined) {
    return [forbiddenField(path, 'may not be set for containers with empty `spec.os.name`')];
  }
  const known = os.name === WINDOWS ? WINDOWS_SIGNALS : os.name === 'linux' ? LINUX_SIGNALS : undefined;
  return known === undefined || known.includes(signal) ? [] : [notSupported(path, signal, known)];
}
