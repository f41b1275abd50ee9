import type { ConfigMap } from '../../../shared/api/types/core-v1';
import type { Clock } from '../../../shared/concurrency/clock';
import type { Log } from '../../../shared/log/log';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { GROUP, NAMESPACE } from '../../../shared/names';
import type { RequestHeaderNames } from '../../engine/authn/request-header';
import type { CaBundle } from '../../engine/authn/x509/ca-bundle';
import type { Certificate } from '../../../shared/certs/x509/certificate';
import { certificatesOfPem } from '../../../shared/certs/x509/certificate';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import { text } from '../../../shared/object/accessors';
import { updateObject } from '../../engine/registry/update';
import { createMissing } from './create-missing';
import { reconcileLoop } from './reconcile-loop';
import { ownRequest } from './own-request';

const NAME = 'extension-apiserver-authentication';

const KEY = {
  clientAuthorities: 'client-ca-file',
  proxyAuthorities: 'requestheader-client-ca-file',
} as const;

/** The keys with lists of names, as JSON. */
const NAME_KEYS = [
  ['requestheader-allowed-names', 'allowedNames'],
  ['requestheader-extra-headers-prefix', 'extraHeaderPrefixes'],
  ['requestheader-group-headers', 'groupHeaders'],
  ['requestheader-username-headers', 'usernameHeaders'],
] as const satisfies readonly (readonly [string, keyof RequestHeaderNames])[];

export interface AuthenticationInfoOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly clients: Pick<CaBundle, 'current'> | undefined;
  readonly proxies:
    { readonly bundle: Pick<CaBundle, 'current'>; readonly names: RequestHeaderNames } | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The ConfigMap from which extension API servers learn how this server authenticates clients and proxies. */
export interface AuthenticationInfo {
  /** Runs one round: the ConfigMap has the whole configuration of this replica. Data of other replicas is kept until it expires. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round every ten seconds until the signal aborts; a round without changes writes nothing. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAuthenticationInfo(options: AuthenticationInfoOptions): AuthenticationInfo {
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const { store, registry, clock } = options;
    const endpoint = registry().endpoint(GROUP.core, 'v1', 'configmaps');
    if (endpoint === undefined) return;
    const now = clock.now();
    const metadata = { name: NAME, namespace: NAMESPACE.system };
    await createMissing(store, endpoint, { metadata, data: dataWith({}, options, now) }, signal);
    const change = (current: ApiObject | undefined): ApiObject => {
      const found: ConfigMap = current ?? { metadata };
      const { data: before = {} } = found;
      const data = dataWith(before, options, now);
      return deepEqual(data, before) ? found : { ...found, data };
    };
    const request = ownRequest(endpoint, metadata);
    await updateObject(store, request, { change, options: { creates: 'never' } }, signal);
  };
  return {
    reconcile,
    async run(signal) {
      if (options.clients === undefined && options.proxies === undefined) return;
      const failure = 'failed to reconcile the ConfigMap for the authentication of extension API servers';
      await reconcileLoop({ reconcile, log: options.log, failure }, signal);
    },
  };
}

type Data = Readonly<Record<string, unknown>>;

/** Replicas with different configurations must not fight: each adds its own data and removes none. */
function dataWith(before: Data, { clients, proxies }: AuthenticationInfoOptions, now: number): Data {
  const clientAuthorities = mergeCertificates(
    before[KEY.clientAuthorities],
    clients?.current().anchors ?? [],
    now,
  );
  const proxyAuthorities = mergeCertificates(
    before[KEY.proxyAuthorities],
    proxies?.bundle.current().anchors ?? [],
    now,
  );
  const names = NAME_KEYS.map(([key, what]) => {
    const known = namesOf(before[key]);
    const own = proxies?.names[what] ?? [];
    return [key, JSON.stringify([...known, ...own.filter((each) => !known.includes(each))])];
  });
  const rest = Object.entries(before).filter(([key]) => !OWN_KEYS.has(key));
  return Object.fromEntries([
    ...rest,
    ...(clientAuthorities === '' ? [] : [[KEY.clientAuthorities, clientAuthorities]]),
    ...(proxyAuthorities === '' ? [] : [[KEY.proxyAuthorities, proxyAuthorities], ...names]),
  ]) as Data;
}

const OWN_KEYS: ReadonlySet<string> = new Set([...Object.values(KEY), ...NAME_KEYS.map(([key]) => key)]);

/** Merges certificates without duplicates and without expired ones. */
function mergeCertificates(before: unknown, own: readonly Certificate[], now: number): string {
  const byBytes = new Map<string, Certificate>();
  for (const certificate of [...readable(text(before)), ...own]) {
    if (certificate.notAfterMs < now) continue;
    const bytes = certificate.x509.raw.toString('base64');
    if (!byBytes.has(bytes)) byBytes.set(bytes, certificate);
  }
  return [...byBytes.values()].map(({ x509 }) => x509.toString()).join('');
}

function readable(pem: string): readonly Certificate[] {
  try {
    return certificatesOfPem(pem);
  } catch {
    // The value is missing or unreadable.
    return [];
  }
}

function namesOf(value: unknown): readonly string[] {
  try {
    const names: unknown = JSON.parse(text(value));
    return Array.isArray(names) ? names.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
