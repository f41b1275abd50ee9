import type { EphemeralContainers, Pod, ServiceAccount } from '../../../../shared/api/types/core-v1';
import { StatusError } from '../../../../shared/errors/status-error';
import { pause } from '../../../../shared/concurrency/pause';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import { ANNOTATION } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader, ResourceName } from '../../cluster/cluster-reader';
import { mirrorPodProblem, unlistedEphemeralSecretProblem, unlistedSecretProblem } from './pod-secrets';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { anyOf, pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS, SECRETS, SERVICE_ACCOUNTS } from '../../cluster/resources';
import { tokenSecretOf, withServiceAccountToken, withTokenOfSecret } from './service-account-token';
import { withSpec } from './with-spec';

const DEFAULT_ACCOUNT = 'default';
/** Number of attempts, and their interval in milliseconds, to find a default account that a controller is about to create. */
const DEFAULT_ACCOUNT_TRIES = 10;
const DEFAULT_ACCOUNT_WAIT_MS = { least: 100, most: 200 } as const;

export interface ServiceAccountOptions {
  readonly randomInt: RandomInt;
  /** Whether pods get bound tokens; otherwise the token of a Secret of the account, which does not expire. */
  readonly boundTokens: boolean;
}

/**
 * Every pod runs as a service account of its namespace, `default` if it names none. It gets the account's token and pull secrets. The
 * account may restrict it to its own secrets, also in ephemeral containers.
 */
export function serviceAccount({ randomInt, boundTokens }: ServiceAccountOptions): AdmissionPlugin {
  const withToken = async (
    pod: Pod,
    account: ServiceAccount,
    cluster: ClusterReader,
    signal: AbortSignal,
  ): Promise<Pod> => {
    if (boundTokens) return withServiceAccountToken(pod, randomInt);
    const secret = await tokenSecretNow(account, cluster, signal);
    return withTokenOfSecret(pod, secret, randomInt);
  };
  const ofPods = pluginOf(writesOf(PODS, ['CREATE']), {
    async mutate(attributes, cluster, signal) {
      const { object: pod } = attributes;
      if (pod === undefined || isMirror(pod)) {
        // Problems of the account are reported before validation errors.
        check(attributes, cluster);
        return pod;
      }
      const name = accountOf(pod) || DEFAULT_ACCOUNT;
      const account = await awaited({ attributes, name, randomInt }, cluster, signal);
      const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name });
      const mounted = isTokenWanted(account, pod) ? await withToken(named, account, cluster, signal) : named;
      const object = withPullSecrets(mounted, account);
      check({ ...attributes, object }, cluster);
      return object;
    },
    validate: check,
  });
  const isOfContainers = ({ write: { subresource } }: AdmissionAttributes): boolean =>
    subresource === EPHEMERAL_CONTAINERS;
  return {
    concerns: anyOf(ofPods.concerns, ofEphemeralContainers.concerns),
    mutate: (attributes, ...asked) =>
      isOfContainers(attributes) ? attributes.object : ofPods.mutate?.(attributes, ...asked),
    validate: (attributes, ...asked) =>
      (isOfContainers(attributes) ? ofEphemeralContainers : ofPods).validate?.(attributes, ...asked),
  };
}

const EPHEMERAL_CONTAINERS = 'ephemeralcontainers';
/** Their kind holds only the containers, not the pod. */
const CONTAINERS_OF_PODS: ResourceName<EphemeralContainers> = { group: PODS.group, resource: PODS.resource };

const ofEphemeralContainers = pluginOf(writesOf(CONTAINERS_OF_PODS, ['UPDATE'], EPHEMERAL_CONTAINERS), {
  async validate(attributes, cluster, signal) {
    const { object: shown } = attributes;
    if (shown === undefined) return;
    const pod = await podOf(attributes, cluster, signal);
    const problem = problemOfAccount(attributes, pod, cluster, (account) =>
      unlistedEphemeralSecretProblem(shown, account),
    );
    if (problem !== undefined) throw refusal(attributes, problem);
  },
});

/** Returns the pod with this uid: its account never changes. */
async function podOf(
  attributes: WriteOf<EphemeralContainers>,
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<Pod> {
  const { name, namespace } = attributes.write;
  const uid = attributes.oldObject?.metadata.uid;
  const find = (): Pod | undefined => cluster.get(PODS, name, namespace);
  const known = find();
  if (known !== undefined && known.metadata.uid === uid) return known;
  await cluster.freshen(signal);
  const found = find();
  if (found === undefined || found.metadata.uid !== uid) throw refusal(attributes, `pod "${name}" not found`);
  return found;
}

function check(attributes: WriteOf<Pod>, cluster: ClusterReader): void {
  const { object: pod } = attributes;
  if (pod === undefined) return;
  const problem = isMirror(pod)
    ? mirrorPodProblem(pod.spec)
    : problemOfAccount(attributes, pod, cluster, (account) => unlistedSecretProblem(pod.spec, account));
  if (problem !== undefined) throw refusal(attributes, problem);
}

function isMirror({ metadata: { annotations = {} } }: Pod): boolean {
  return Object.hasOwn(annotations, ANNOTATION.mirrorPod);
}

/** The deprecated field counts if the new one is empty. */
function accountOf({ spec: { serviceAccountName = '', serviceAccount: oldName = '' } }: Pod): string {
  return serviceAccountName || oldName;
}

interface Wanted {
  readonly attributes: AdmissionAttributes;
  readonly name: string;
  readonly randomInt: RandomInt;
}

/** Returns the account. `default` is awaited briefly, because a new namespace gets it soon. */
async function awaited(
  { attributes, name, randomInt }: Wanted,
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<ServiceAccount> {
  const { least, most } = DEFAULT_ACCOUNT_WAIT_MS;
  const find = (): ServiceAccount | undefined =>
    cluster.get(SERVICE_ACCOUNTS, name, attributes.write.namespace);
  const known = find();
  if (known !== undefined) return known;
  const waitMs = least + randomInt(most - least);
  const tries = name === DEFAULT_ACCOUNT ? DEFAULT_ACCOUNT_TRIES : 1;
  for (let count = 1; ; count += 1) {
    await cluster.freshen(signal);
    const found = find();
    if (found !== undefined) return found;
    if (count >= tries || signal.aborted) throw refusal(attributes, notFoundProblem(attributes, name));
    await pause(waitMs, signal);
  }
}

function notFoundProblem({ write: { namespace } }: AdmissionAttributes, name: string): string {
  return `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
}

/** Returns the token Secret. Throws ServerTimeout (500) without one, because a controller may be about to create it. */
async function tokenSecretNow(
  account: ServiceAccount,
  cluster: ClusterReader,
  signal: AbortSignal,
): Promise<string> {
  const { name = '', namespace } = account.metadata;
  const find = (): string | undefined =>
    tokenSecretOf(account, (secret) => cluster.get(SECRETS, secret, namespace));
  const known = find();
  if (known !== undefined) return known;
  await cluster.freshen(signal);
  const found = find();
  if (found !== undefined) return found;
  const why = `No API token found for service account ${JSON.stringify(name)}, retry after the token is automatically created and added to the service account`;
  const details = { name: 'create pod', kind: 'serviceaccounts', retryAfterSeconds: 1 };
  throw new StatusError('ServerTimeout', why, { details });
}

/** The pod's setting takes precedence. */
function isTokenWanted(account: ServiceAccount, pod: Pod): boolean {
  return pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

function withPullSecrets(pod: Pod, account: ServiceAccount): Pod {
  if ((pod.spec.imagePullSecrets ?? []).length > 0) return pod;
  const { imagePullSecrets = [] } = account;
  return imagePullSecrets.length === 0 ? pod : withSpec(pod, { imagePullSecrets });
}

function problemOfAccount(
  attributes: AdmissionAttributes,
  pod: Pod,
  cluster: ClusterReader,
  secretProblem: (account: ServiceAccount) => string | undefined,
): string | undefined {
  const { namespace } = attributes.write;
  const name = accountOf(pod);
  if (name === '') return `no service account specified for pod ${namespace}/${pod.metadata.name ?? ''}`;
  const account = cluster.get(SERVICE_ACCOUNTS, name, namespace);
  if (account === undefined) return notFoundProblem(attributes, name);
  return isHeldToItsSecrets(account) ? secretProblem(account) : undefined;
}

/** The words that Go parses as true. */
const TRUE = /^(?:1|t|T|TRUE|true|True)$/;

function isHeldToItsSecrets({ metadata: { annotations = {} } }: ServiceAccount): boolean {
  return TRUE.test(annotations[ANNOTATION.enforceMountableSecrets] ?? '');
}
