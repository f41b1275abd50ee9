import { load } from 'js-yaml';

/** An authority, made once. */
export interface AuthorityPlan {
  /** Of the bundle that holds it. */
  readonly name: string;
  readonly commonName: string;
  readonly validDays: number;
}

/** A certificate that is kept valid. */
export interface CertificatePlan extends AuthorityPlan {
  /** The name of its authority. */
  readonly authority: string;
  readonly organizations: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  /** The Deployment that reads it only when it starts, if there is one. */
  readonly restart: string | undefined;
  /** The StatefulSet that reads the authorities beside the certificate (`ca.crt`) only when it starts, as etcd does. */
  readonly restartForTrust: string | undefined;
}

/** A key with which resources are encrypted in the store, made once. */
export interface EncryptionKeyPlan {
  readonly name: string;
  /** `secrets`, `deployments.apps`. */
  readonly resources: readonly string[];
}

/** The bundles that a control plane needs. */
export interface Plan {
  readonly authorities: readonly AuthorityPlan[];
  readonly certificates: readonly CertificatePlan[];
  /** Names of bundles with a key that signs tokens, made once. */
  readonly tokenKeys: readonly string[];
  readonly encryptionKeys: readonly EncryptionKeyPlan[];
  /** Names of bundles with a random password, created once. */
  readonly passwords: readonly string[];
  /** The name of the bundle that records which authorities and keys existed. */
  readonly record: string;
}

/** What is wrong with a plan, in a sentence. */
export class PlanError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PlanError';
  }
}

/** Reads a plan (YAML or JSON). Throws PlanError for anything missing, unknown or twice there. */
export function parsePlan(text: string): Plan {
  const {
    authorities: givenAuthorities,
    certificates: givenCertificates,
    tokenKeys: givenKeys,
    encryptionKeys: givenEncryptionKeys,
    passwords: givenPasswords,
    record: givenRecord,
  } = fields(parsed(text), 'the plan', PLAN_FIELDS);
  const authorities = list(givenAuthorities, 'authorities').map((each, index) =>
    authority(
      fields(each, `authorities[${String(index)}]`, AUTHORITY_FIELDS),
      `authorities[${String(index)}]`,
    ),
  );
  const certificates = list(givenCertificates, 'certificates').map((each, index) =>
    certificate(each, `certificates[${String(index)}]`),
  );
  const tokenKeys = list(givenKeys, 'tokenKeys').map((each) => name(each, 'tokenKeys'));
  const encryptionKeys = list(givenEncryptionKeys, 'encryptionKeys').map((each, index) =>
    encryptionKey(each, `encryptionKeys[${String(index)}]`),
  );
  const passwords = list(givenPasswords, 'passwords').map((each) => name(each, 'passwords'));
  const record = name(givenRecord ?? RECORD_DEFAULT, 'record');
  const named = [...authorities, ...certificates, ...encryptionKeys];
  const names = [...named.map((each) => each.name), ...tokenKeys, ...passwords, record];
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) throw new PlanError(`two bundles are named "${twice}"`);
  const orphan = certificates.find((each) => !authorities.some((one) => one.name === each.authority));
  if (orphan !== undefined)
    throw new PlanError(
      `certificate "${orphan.name}" names an authority "${orphan.authority}" that is not planned`,
    );
  return { authorities, certificates, tokenKeys, encryptionKeys, passwords, record };
}

type Fields = Readonly<Record<string, unknown>>;

const PLAN_FIELDS = [
  'authorities',
  'certificates',
  'tokenKeys',
  'encryptionKeys',
  'passwords',
  'record',
] as const;
const RECORD_DEFAULT = 'record';
const AUTHORITY_FIELDS = ['name', 'commonName', 'validDays'] as const;
const CERTIFICATE_FIELDS = [
  ...AUTHORITY_FIELDS,
  'authority',
  'organizations',
  'hosts',
  'usages',
  'restart',
  'restartForTrust',
] as const;
/** A name is also that of a folder and of a Secret. */
const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const RESOURCE = /^[a-z][-a-z0-9]*(?:\.[a-z0-9][-a-z0-9.]*)?$/;
const DAYS_MAX = 36_500;

function parsed(text: string): unknown {
  try {
    return load(text);
  } catch (error) {
    throw new PlanError(`the plan is not YAML: ${(error as Error).message}`, error);
  }
}

function authority(value: Fields, at: string): AuthorityPlan {
  const { name: given, commonName, validDays } = value;
  if (typeof validDays !== 'number' || !Number.isInteger(validDays) || validDays < 1 || validDays > DAYS_MAX)
    throw new PlanError(`${at}.validDays must be a number of days from 1 to ${String(DAYS_MAX)}`);
  return {
    name: name(given, `${at}.name`),
    commonName: nonEmpty(commonName, `${at}.commonName`),
    validDays,
  };
}

function certificate(value: unknown, at: string): CertificatePlan {
  const each = fields(value, at, CERTIFICATE_FIELDS);
  const { authority: issuer, organizations, hosts, usages: given, restart, restartForTrust } = each;
  const usages = list(given, `${at}.usages`).map((usage) => {
    if (usage !== 'server' && usage !== 'client')
      throw new PlanError(`${at}.usages may hold "server" and "client" only`);
    return usage;
  });
  if (usages.length === 0) throw new PlanError(`${at}.usages must not be empty`);
  return {
    ...authority(each, at),
    authority: name(issuer, `${at}.authority`),
    organizations: list(organizations, `${at}.organizations`).map((item) =>
      nonEmpty(item, `${at}.organizations`),
    ),
    hosts: list(hosts, `${at}.hosts`).map((item) => nonEmpty(item, `${at}.hosts`)),
    usages,
    restart: restart === undefined ? undefined : name(restart, `${at}.restart`),
    restartForTrust:
      restartForTrust === undefined ? undefined : name(restartForTrust, `${at}.restartForTrust`),
  };
}

function encryptionKey(value: unknown, at: string): EncryptionKeyPlan {
  const { name: given, resources: written } = fields(value, at, ['name', 'resources']);
  const resources = list(written, `${at}.resources`).map((item) => resourceName(item, `${at}.resources`));
  if (resources.length === 0) throw new PlanError(`${at}.resources must not be empty`);
  return { name: name(given, `${at}.name`), resources };
}

function resourceName(value: unknown, at: string): string {
  const given = nonEmpty(value, at);
  if (!RESOURCE.test(given))
    throw new PlanError(`${at}: "${given}" must be like secrets or deployments.apps`);
  return given;
}

function fields(value: unknown, at: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new PlanError(`${at} must be an object`);
  const strange = Object.keys(value).find((key) => !known.includes(key));
  if (strange !== undefined) throw new PlanError(`${at} has an unknown field "${strange}"`);
  return value as Fields;
}

function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new PlanError(`${at} must be a list`);
  return value as readonly unknown[];
}

function nonEmpty(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') throw new PlanError(`${at} must be a text`);
  return value;
}

function name(value: unknown, at: string): string {
  const given = nonEmpty(value, at);
  if (!NAME.test(given)) throw new PlanError(`${at}: "${given}" is no name of a folder or a Secret`);
  return given;
}
