import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { completeOptions } from '../apiserver/compose/options/complete-options';
import { parseServerFlags } from '../apiserver/compose/options/parse-server-flags';
import type { DecodedValues } from '../apiserver/engine/watch-cache/state/entry-codec';
import type { ServerOptions } from '../apiserver/compose/options/server-options';
import { apiLevel, formatApiLevel } from '../shared/api-level';
import type { UserInfo } from '../apiserver/engine/request/exchange';
import type { KeyedCertificate } from '../shared/certs/certificate';
import { issueCertificate, makeCa } from '../shared/certs/certificate';
import type { Log } from '../shared/log/log';
import { silentLog } from '../shared/log/log';
import { API_SERVICE_NAME } from '../shared/names';
import type { SigningKey } from '../shared/tokens/token-key';
import { signingKeyOf } from '../shared/tokens/token-key';
import type { ClientNodeConfig, ControlPlaneOptions, ServingCertificate } from './types';

const CERTIFICATE_DAYS = 365;

/** Keys of one control plane and of its clones, made once. Certificates are made when they are first needed. */
export interface Identity {
  readonly ca: () => KeyedCertificate;
  readonly serving: () => KeyedCertificate;
  readonly tokenKey: SigningKey;
  /** What was decoded from values of the store, which clones share. */
  readonly decoded: DecodedValues;
  /** The users by their tokens. */
  readonly users: Map<string, UserInfo>;
}

const TOKEN_BYTES = 18;

/** The token of a user, always the same one. */
export function tokenOf(user: UserInfo, users: Map<string, UserInfo>): string {
  const isSame = ({ name, groups }: UserInfo): boolean =>
    name === user.name && groups.join('\n') === user.groups.join('\n');
  const known = [...users].find(([, each]) => isSame(each));
  if (known !== undefined) return known[0];
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  users.set(token, user);
  return token;
}

/** The words of `--controllers`. */
export function controllerWords({ controllers = true }: ControlPlaneOptions): readonly string[] {
  if (typeof controllers === 'boolean') return controllers ? ['*'] : [];
  return controllers;
}

/** The options that decide which objects a control plane begins with; the server creates those without admission. */
export function beginningKey({ flags = {} }: ControlPlaneOptions): string {
  const { 'disable-admission-plugins': _, ...others } = flags;
  return JSON.stringify([formatApiLevel(apiLevel), others]);
}

/** Makes the keys of a control plane. */
export function newIdentity(): Identity {
  let ca: KeyedCertificate | undefined;
  let serving: KeyedCertificate | undefined;
  const caOf = (): KeyedCertificate => {
    ca ??= makeCa({ commonName: 'orch-testing', validDays: CERTIFICATE_DAYS });
    return ca;
  };
  const servingOf = (): KeyedCertificate => {
    serving ??= issueCertificate(caOf(), {
      commonName: 'orch-apiserver',
      hosts: ['127.0.0.1', 'localhost', `${API_SERVICE_NAME}.default.svc`],
      usages: ['server'],
      validDays: CERTIFICATE_DAYS,
    });
    return serving;
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    ca: caOf,
    serving: servingOf,
    tokenKey: signingKeyOf(pem),
    decoded: new WeakMap(),
    users: new Map(),
  };
}

/** Makes a certificate with an authority of its own, for a server of the test. */
export function makeServingCertificate(hosts: readonly string[]): ServingCertificate {
  const authority = makeCa({ commonName: 'orch-testing', validDays: CERTIFICATE_DAYS });
  const { certificatePem, privateKeyPem } = issueCertificate(authority, {
    commonName: hosts[0] ?? 'localhost',
    hosts,
    usages: ['server'],
    validDays: CERTIFICATE_DAYS,
  });
  return { cert: certificatePem, key: privateKeyPem, ca: authority.certificatePem };
}

/** The options of the flags, with keys in memory instead of files. */
export function serverOptions(
  { flags = {}, controllers = true, listen: listens = true }: ControlPlaneOptions,
  identity: Identity,
): ServerOptions {
  const words = Object.entries(flags).flatMap(([name, value]) =>
    (typeof value === 'object' ? value : [value]).map((each) => `--${name}=${String(each)}`),
  );
  // As envtest does: without the controllers that provide service accounts and remove finalizers, no pod could be created or deleted.
  const withoutControllers =
    controllers === false ? ['--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection'] : [];
  const parsed = parseServerFlags([
    '--storage-backend=memory',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--authorization-mode=Node,RBAC',
    '--cert-dir=memory',
    ...withoutControllers,
    ...words,
  ]);
  if (parsed.outcome !== 'values')
    throw new RangeError(
      parsed.outcome === 'errors' ? parsed.errors.join('; ') : 'help is no flag of an option',
    );
  const completed = completeOptions(parsed.values);
  if (!completed.ok) throw new RangeError(completed.errors.join('; '));
  const { serving, authentication, ...others } = completed.options;
  return {
    ...others,
    serving: {
      ...serving,
      certificate: { from: 'memory', loaded: listens ? loadedPair(identity.serving()) : NO_PAIR },
    },
    authentication: {
      ...authentication,
      accountTokens: {
        ...authentication.accountTokens,
        signingKey: { from: 'memory', key: identity.tokenKey },
      },
    },
  };
}

/** A server without a port uses no certificate. */
const NO_PAIR = { cert: Buffer.alloc(0), key: Buffer.alloc(0) };

function loadedPair({ certificatePem, privateKeyPem }: KeyedCertificate): typeof NO_PAIR {
  return { cert: Buffer.from(certificatePem), key: Buffer.from(privateKeyPem) };
}

/** The text of a kubeconfig file. */
export function kubeconfigOf({ clusters, users, contexts, currentContext }: ClientNodeConfig): string {
  // JSON is YAML, so that no writer of YAML is loaded.
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: clusters.map(({ name, server, caData }) => ({
        name,
        cluster: { server, 'certificate-authority-data': caData },
      })),
      users: users.map(({ name, token }) => ({ name, user: { token } })),
      contexts: contexts.map(({ name, ...context }) => ({ name, context })),
      'current-context': currentContext,
    },
    undefined,
    2,
  );
}

/** A log that calls a function of the options. */
export function logOf(write: ControlPlaneOptions['log'], fixed: object = {}): Log {
  if (write === undefined) return silentLog;
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      write(level, message, { ...fixed, ...fields });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logOf(write, { ...fixed, ...fields }),
  };
}
