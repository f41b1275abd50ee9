import type { KeyObject } from 'node:crypto';
import { createSecretKey } from 'node:crypto';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { invalid, required } from '../../../../../shared/errors/field-error';
import { parseDurationMs } from '../../../../../shared/flags/duration';
import { isJsonObject } from '../../../../../shared/object/clone';
import { fieldsOf, fieldsOfEach, integer, strings, text } from '../../../../../shared/object/accessors';

/** The providers of each encrypted resource; the first one is used for writing. */
export interface EncryptionRules {
  /** By the prefix of its keys below that of the store: `core/secrets/`. */
  readonly resources: ReadonlyMap<string, readonly ProviderRules[]>;
  /** All KMS providers, in the order of the configuration. */
  readonly services: readonly KmsRules[];
}

export type ProviderRules = IdentityRules | KeyRules | KmsRules;

export interface IdentityRules {
  readonly kind: 'identity';
}

export type CipherName = 'aescbc' | 'aesgcm' | 'secretbox';

export interface KeyRules {
  readonly kind: CipherName;
  /** Never empty. */
  readonly keys: readonly { readonly name: string; readonly secret: KeyObject }[];
}

export interface KmsRules {
  readonly kind: 'kms';
  readonly name: string;
  readonly endpoint: string;
  readonly timeoutMs: number;
  /** Number of cached data keys; negative disables the cache. */
  readonly cacheSize: number;
}

export type ParsedEncryption =
  | { readonly ok: true; readonly rules: EncryptionRules }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The second one is the name up to v1.13. */
const KINDS: readonly string[] = ['EncryptionConfiguration', 'EncryptionConfig'];

/** Parses an EncryptionConfiguration. Every problem names its field, and none contains a secret. */
export function parseEncryptionRules(configuration: unknown): ParsedEncryption {
  const { kind, resources } = fieldsOf<Written>(configuration);
  if (!KINDS.includes(text(kind))) {
    return { ok: false, problems: [`kind must be ${KINDS[0] ?? ''}, not ${JSON.stringify(kind ?? '')}`] };
  }
  const errors: FieldError[] = [];
  const found = new Map<string, ProviderRules[]>();
  const services: KmsRules[] = [];
  const entries = fieldsOfEach<WrittenResources>(resources);
  if (entries.length === 0) errors.push(required('resources', 'at least one resources is required'));
  for (const [index, entry] of entries.entries()) {
    const path = `resources[${String(index)}]`;
    const names = strings(entry.resources);
    const providers = providersOf(entry.providers, `${path}.providers`, errors);
    if (names.length === 0) {
      errors.push(required(`${path}.resources`, `at least one ${path}.resources is required`));
    }
    for (const name of names)
      found.set(keyPrefixOf(name), [...(found.get(keyPrefixOf(name)) ?? []), ...providers]);
    for (const provider of providers) if (provider.kind === 'kms') services.push(provider);
  }
  if (errors.length === 0) return { ok: true, rules: { resources: found, services } };
  return { ok: false, problems: errors.map(({ field, message }) => `${field}: ${message}`) };
}

interface Written {
  readonly kind: string;
  readonly resources: readonly WrittenResources[];
}

interface WrittenResources {
  readonly resources: readonly string[];
  readonly providers: readonly object[];
}

/** `secrets` and `deployments.apps` as prefixes of keys. */
function keyPrefixOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? `core/${name}/` : `${name.slice(dot + 1)}/${name.slice(0, dot)}/`;
}

function providersOf(value: unknown, path: string, errors: FieldError[]): ProviderRules[] {
  const entries = fieldsOfEach<Readonly<Record<string, unknown>>>(value);
  if (entries.length === 0) errors.push(required(path, `at least one ${path} is required`));
  return entries.flatMap((entry, index) => {
    const at = `${path}[${String(index)}]`;
    const chosen = PROVIDERS.filter(([kind]) => isJsonObject(entry[kind]));
    const [first, second] = chosen;
    if (first === undefined || second !== undefined) {
      errors.push(invalid(at, Object.keys(entry), first === undefined ? NONE : SEVERAL));
      return [];
    }
    const [kind, parse] = first;
    const before = errors.length;
    const rules = parse(entry[kind], `${at}.${kind}`, errors);
    return errors.length === before ? [rules] : [];
  });
}

const NONE =
  'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
const SEVERAL =
  'more than one provider specified in a single element, should split into different list elements';

type Parse = (value: unknown, path: string, errors: FieldError[]) => ProviderRules;

const AES_KEY_BYTES = [16, 24, 32];
const SECRETBOX_KEY_BYTES = [32];

const PROVIDERS: readonly (readonly [kind: CipherName | 'identity' | 'kms', parse: Parse])[] = [
  ['kms', kmsRules],
  ['aesgcm', (value, path, errors) => keyRules('aesgcm', { value, path, sizes: AES_KEY_BYTES }, errors)],
  ['aescbc', (value, path, errors) => keyRules('aescbc', { value, path, sizes: AES_KEY_BYTES }, errors)],
  [
    'secretbox',
    (value, path, errors) => keyRules('secretbox', { value, path, sizes: SECRETBOX_KEY_BYTES }, errors),
  ],
  ['identity', () => ({ kind: 'identity' })],
];

interface WrittenKeys {
  readonly value: unknown;
  readonly path: string;
  readonly sizes: readonly number[];
}

function keyRules(kind: CipherName, { value, path, sizes }: WrittenKeys, errors: FieldError[]): KeyRules {
  const entries = fieldsOfEach<{ readonly name: string; readonly secret: string }>(
    fieldsOf<{ readonly keys: readonly object[] }>(value).keys,
  );
  if (entries.length === 0) errors.push(required(`${path}.keys`, 'at least one keys is required'));
  const keys = entries.map((entry, index) => {
    const at = `${path}.keys[${String(index)}]`;
    const name = text(entry.name);
    const bytes = secretBytes(text(entry.secret));
    if (name === '') errors.push(required(`${at}.name`, 'name is a mandatory field for a key'));
    if (text(entry.secret) === '') {
      errors.push(required(`${at}.secret`, 'secret is a mandatory field for a key'));
    } else if (bytes === undefined) {
      errors.push(invalid(`${at}.secret`, 'REDACTED', 'secrets must be base64 encoded'));
    } else if (!sizes.includes(bytes.length)) {
      const size = `got ${String(bytes.length)}, expected one of [${sizes.join(' ')}]`;
      errors.push(invalid(`${at}.secret`, 'REDACTED', `secret is not of the expected length, ${size}`));
    }
    const secret = createSecretKey(bytes ?? Buffer.alloc(0));
    bytes?.fill(0);
    return { name, secret };
  });
  return { kind, keys };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Line ends do not count. */
function secretBytes(secret: string): Buffer | undefined {
  const bare = secret.replaceAll(/[\r\n]/g, '');
  return BASE64.test(bare) ? Buffer.from(bare, 'base64') : undefined;
}

const TIMEOUT = '3s';
const CACHE_SIZE = 1_000;

interface WrittenKms {
  readonly name: string;
  readonly endpoint: string;
  readonly timeout: string;
  readonly cachesize: number;
}

function kmsRules(value: unknown, path: string, errors: FieldError[]): KmsRules {
  const written = fieldsOf<WrittenKms>(value);
  const name = text(written.name);
  const timeout = text(written.timeout ?? TIMEOUT);
  const timeoutMs = parseDurationMs(timeout) ?? 0;
  const cacheSize = Number(integer(written.cachesize) ?? CACHE_SIZE);
  const endpoint = text(written.endpoint);
  if (name === '') errors.push(required(`${path}.name`, 'name is a mandatory field for a provider'));
  if (timeoutMs <= 0) errors.push(invalid(`${path}.timeout`, timeout, 'timeout should be a positive value'));
  errors.push(...endpointErrors(endpoint, `${path}.endpoint`));
  if (cacheSize === 0) {
    const wanted = 'cachesize should be a positive value, or negative to disable';
    errors.push(invalid(`${path}.cachesize`, cacheSize, wanted));
  }
  return { kind: 'kms', name, endpoint, timeoutMs, cacheSize };
}

function endpointErrors(endpoint: string, path: string): FieldError[] {
  if (endpoint === '') return [invalid(path, '', 'endpoint is a mandatory field for a kms')];
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? '';
  if (scheme !== 'unix') {
    const detail = `unsupported scheme "${scheme}" for KMS provider, only unix is supported`;
    return [invalid(path, endpoint, detail)];
  }
  if (/^unix:(?:\/\/)?\/@/.test(endpoint)) {
    return [invalid(path, endpoint, 'sockets without a file are not supported')];
  }
  return [];
}
