import { RESOURCE } from '../../shared/api/resource-names';
import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Secret, ServiceAccount } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { createInformer } from '../../shared/informer/informer';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { dns1123SubdomainProblems } from '../../shared/meta/dns-names';
import { generateName } from '../../shared/meta/generate-name';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { runWithRootCa } from '../runtime/root-ca-file';
import type { TokenParts } from './token-secrets';
import { TOKEN_SECRETS, accountKeyOf, filled, isOf, newTokenSecret } from './token-secrets';

const WORKERS = 5;
/** Created Secrets whose watch event has not arrived yet; the oldest are forgotten. */
const MADE_MAX = 10_000;

/**
 * Runs the token controller of v1.21: creates a token Secret for each account that lists none, fills token Secrets that clients create or
 * empty, and deletes them with their account. Resolves once the signal aborts.
 */
export async function runAccountTokens(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { tokenKey: key, rootCa } = context.options;
  if (key === undefined) {
    context.log.warn({}, 'tokens of service accounts are not kept in Secrets, as there is no private key');
    return;
  }
  await runWithRootCa(rootCa, signal, async (pem, current) => {
    await new AccountTokens(context, { key, rootCa: pem }).run(current);
  });
}

/** Returns the namespace of a task: its last part is a key in all of them. */
function namespaceOfTask(task: string): string {
  const [key = ''] = (JSON.parse(task) as Task).slice(-1);
  return key.split('/', 1)[0] ?? '';
}

/** One item of the work queue. */
type Task =
  | readonly ['account' | 'secret', key: string]
  /** Remove a deleted Secret from the account's list. */
  | readonly ['unlist', secret: string, account: string];

class AccountTokens {
  readonly #context: ControllerContext;
  readonly #client: Client;
  readonly #parts: TokenParts;
  readonly #accounts: Informer<ServiceAccount>;
  readonly #secrets: Informer<Secret>;
  readonly #queue: WorkQueue;
  /** Keys of Secrets by the key of their account. */
  readonly #secretsOf = new Map<string, Set<string>>();
  readonly #made = new LRUCache<string, true>({ max: MADE_MAX });

  constructor(context: ControllerContext, parts: TokenParts) {
    const { client, reader, log, createQueue } = context;
    this.#context = context;
    this.#client = client;
    this.#parts = parts;
    this.#accounts = createInformer({ client: reader, resource: RESOURCE.serviceaccounts, log });
    this.#secrets = createInformer({ ...TOKEN_SECRETS, client: reader, log });
    this.#queue = createQueue({ flowOf: namespaceOfTask });
    const onAccount = (account: ServiceAccount): void => this.#accountChanged(keyOfObject(account));
    this.#accounts.addHandler({
      onAdd: onAccount,
      onUpdate: (_before, after) => onAccount(after),
      onDelete: onAccount,
    });
    this.#secrets.addHandler({
      onAdd: (secret) => this.#secretChanged(secret),
      onUpdate: (_before, after) => this.#secretChanged(after),
      onDelete: (secret) => this.#secretGone(secret),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await runInformedLoop(
      {
        informers: [this.#accounts, this.#secrets],
        queue: this.#queue,
        workers: this.#context.options.concurrentServiceaccountTokenSyncs ?? WORKERS,
        log: this.#context.log,
        reconcile: async (task, stop) => this.#reconcile(JSON.parse(task) as Task, stop),
      },
      signal,
    );
  }

  #add(...task: Task): void {
    this.#queue.add(JSON.stringify(task));
  }

  #accountChanged(key: string): void {
    this.#add('account', key);
    for (const secret of this.#secretsOf.get(key) ?? []) this.#add('secret', secret);
  }

  #secretChanged(secret: Secret): void {
    const key = keyOfObject(secret);
    const account = accountKeyOf(secret);
    const keys = this.#secretsOf.get(account) ?? new Set();
    this.#secretsOf.set(account, keys.add(key));
    this.#made.delete(key);
    this.#add('secret', key);
  }

  #secretGone(secret: Secret): void {
    const key = keyOfObject(secret);
    const account = accountKeyOf(secret);
    const keys = this.#secretsOf.get(account);
    keys?.delete(key);
    if (keys?.size === 0) this.#secretsOf.delete(account);
    this.#made.delete(key);
    this.#add('unlist', secret.metadata.name ?? '', account);
  }

  async #reconcile(task: Task, signal: AbortSignal): Promise<Requeue | undefined> {
    try {
      const [kind, key] = task;
      if (kind === 'account') await this.#reconcileAccount(key, signal);
      else if (kind === 'secret') await this.#reconcileSecret(key, signal);
      else await this.#unlist(key, task[2] ?? '', signal);
    } catch (error) {
      // A missing or terminating object needs no work.
      if (!hasCode(error, 404) && !isOfTerminatingNamespace(error)) throw error;
    }
    return undefined;
  }

  /** Ensures that the account lists an existing Secret. */
  async #reconcileAccount(key: string, signal: AbortSignal): Promise<void> {
    const account = this.#accounts.store.get(key);
    if (account === undefined || this.#listsToken(account)) return;
    const { namespace = '', name = '', uid, resourceVersion } = account.metadata;
    const live = await this.#client.get(RESOURCE.serviceaccounts, { namespace, name }, { signal });
    // A later change has its own event, which queues the account again.
    if (live.metadata.uid !== uid || live.metadata.resourceVersion !== resourceVersion) return;
    const secretName = generateName(`${name}-token-`, (bound) => randomInt(bound));
    const secret = await newTokenSecret(live, secretName, this.#parts);
    const made = await this.#client.create(RESOURCE.secrets, secret, { signal });
    this.#made.set(keyOfObject(made), true);
    try {
      const secrets = [...(live.secrets ?? []), { name: secretName }];
      await this.#client.update(RESOURCE.serviceaccounts, { ...live, secrets }, { signal });
    } catch (error) {
      await this.#delete(made, signal);
      if (!hasCode(error, 404, 409)) throw error;
    }
  }

  #listsToken({ metadata, secrets }: ServiceAccount): boolean {
    return (secrets ?? []).some(({ name = '' }) => {
      const key = `${metadata.namespace ?? ''}/${name}`;
      return this.#made.has(key) || this.#secrets.store.get(key) !== undefined;
    });
  }

  /** Fills the Secret, or deletes it if its account is confirmed absent. */
  async #reconcileSecret(key: string, signal: AbortSignal): Promise<void> {
    const secret = this.#secrets.store.get(key);
    if (secret === undefined) return;
    const account = await this.#accountOf(secret, signal);
    if (account === undefined) {
      await this.#delete(secret, signal);
      return;
    }
    if ((await filled(secret, account, this.#parts)) === undefined) return;
    const { namespace, name = '', uid } = secret.metadata;
    const live = await this.#client.get(RESOURCE.secrets, { namespace, name }, { signal });
    if (live.metadata.uid !== uid) return;
    const better = await filled(live, account, this.#parts);
    if (better !== undefined) await this.#client.update(RESOURCE.secrets, better, { signal });
  }

  async #accountOf(secret: Secret, signal: AbortSignal): Promise<ServiceAccount | undefined> {
    const known = this.#accounts.store.get(accountKeyOf(secret));
    if (known !== undefined && isOf(secret, known)) return known;
    const { namespace = '' } = secret.metadata;
    const name = accountKeyOf(secret).slice(namespace.length + 1);
    // No account can have such a name.
    if (dns1123SubdomainProblems(name).length > 0) return undefined;
    try {
      const live = await this.#client.get(RESOURCE.serviceaccounts, { namespace, name }, { signal });
      return isOf(secret, live) ? live : undefined;
    } catch (error) {
      if (hasCode(error, 404)) return undefined;
      throw error;
    }
  }

  async #unlist(secretName: string, accountKey: string, signal: AbortSignal): Promise<void> {
    const known = this.#accounts.store.get(accountKey);
    if (known === undefined || !lists(known, secretName)) return;
    const { namespace = '', name = '' } = known.metadata;
    const live = await this.#client.get(RESOURCE.serviceaccounts, { namespace, name }, { signal });
    if (live.metadata.uid !== known.metadata.uid || !lists(live, secretName)) return;
    // An account of the same name may have been recreated.
    if (await this.#isThere(namespace, secretName, signal)) return;
    const secrets = (live.secrets ?? []).filter((each) => each.name !== secretName);
    await this.#client.update(RESOURCE.serviceaccounts, { ...live, secrets }, { signal });
  }

  async #isThere(namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#client.get(RESOURCE.secrets, { namespace, name }, { signal });
      return true;
    } catch (error) {
      if (hasCode(error, 404)) return false;
      throw error;
    }
  }

  async #delete({ metadata }: Secret, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid = '' } = metadata;
    try {
      await this.#client.delete(
        RESOURCE.secrets,
        { namespace, name },
        { preconditions: { uid } },
        { signal },
      );
    } catch (error) {
      if (!hasCode(error, 404, 409)) throw error;
    }
  }
}

function lists({ secrets }: ServiceAccount, name: string): boolean {
  return (secrets ?? []).some((each) => each.name === name);
}

function isOfTerminatingNamespace(error: unknown): boolean {
  if (!hasReason(error, 'Forbidden')) return false;
  return (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
