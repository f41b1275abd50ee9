import { isInForce } from '../../../shared/api/changes';
import { HOOK_PREFIX, START_HOOK } from '../../../shared/names';
import type { HealthCheck } from '../../engine/observability/health/health-check';
import { HEALTH_PATHS } from '../../engine/observability/health/health-check';

/** A start hook, by its name in kube-apiserver. */
export type StartHook = keyof typeof START_HOOK;

/** Health checks in the order of kube-apiserver; each fails until its start hook is done. */
const IN_ORDER: readonly StartHook[] = [
  'admission',
  'informers',
  'flowConfigurationConsumer',
  'flowFilter',
  'definitionInformers',
  'definitionControllers',
  'definitionsRead',
  'bootstrapController',
  'policy',
  'priorityClasses',
  'flowConfigurationProducer',
  'authenticationInfo',
  'identityLease',
  'expiredIdentities',
  'aggregatorInformers',
  'apiServiceRegistration',
  'apiServiceAvailability',
  'storageVersions',
  'autoregistration',
  'autoregisterCompletion',
  'openApi',
];

/** The names of health checks where newer releases have others; a divided hook has several. */
const NEWER_NAMES: Partial<Readonly<Record<StartHook, readonly string[]>>> = {
  admission: ['start-apiserver-admission-initializer'],
  informers: [START_HOOK.informers, 'storage-readiness'],
  bootstrapController: [
    START_HOOK.bootstrapController,
    'start-system-namespaces-controller',
    'start-service-ip-repair-controllers',
  ],
  apiServiceAvailability: [
    'apiservice-status-local-available-controller',
    'apiservice-status-remote-available-controller',
  ],
  openApi: [START_HOOK.openApi, 'apiservice-openapiv3-controller', 'apiservice-discovery-controller'],
};

function checkNamesOf(hook: StartHook): readonly string[] {
  if (hook === 'autoregisterCompletion') return [START_HOOK[hook]];
  const names = isInForce('startHookNames') ? NEWER_NAMES[hook] : undefined;
  return (names ?? [START_HOOK[hook]]).map((name) => `${HOOK_PREFIX}${name}`);
}

/** The pending start hooks of a replica, by name. */
export interface StartHooks {
  readonly checks: readonly HealthCheck[];
  /** Marks these hooks as done. Idempotent. */
  readonly done: (...hooks: readonly StartHook[]) => void;
  /** Resolves when all hooks of the replica are done. */
  readonly allDone: Promise<void>;
}

/** `absent` names the hooks that this replica does not run: they have no check. */
export function createStartHooks(absent: readonly StartHook[]): StartHooks {
  const over = new Set<StartHook>();
  const present = IN_ORDER.filter((hook) => !absent.includes(hook));
  let resolve = (): void => undefined;
  const allDone = new Promise<void>((resolveAll) => {
    resolve = resolveAll;
  });
  return {
    allDone,
    checks: present.flatMap((hook) =>
      checkNamesOf(hook).map((name) => ({
        name,
        paths: HEALTH_PATHS,
        isStartup: true,
        check: async () => Promise.resolve(over.has(hook) ? undefined : 'not finished'),
      })),
    ),
    done: (...hooks) => {
      for (const hook of hooks) over.add(hook);
      if (present.every((hook) => over.has(hook))) resolve();
    },
  };
}
