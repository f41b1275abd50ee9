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
    checks: present.map((hook) => ({
      name: hook === 'autoregisterCompletion' ? START_HOOK[hook] : `${HOOK_PREFIX}${START_HOOK[hook]}`,
      paths: HEALTH_PATHS,
      isStartup: true,
      check: async () => Promise.resolve(over.has(hook) ? undefined : 'not finished'),
    })),
    done: (...hooks) => {
      for (const hook of hooks) over.add(hook);
      if (present.every((hook) => over.has(hook))) resolve();
    },
  };
}
