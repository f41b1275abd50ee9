import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';

import { load } from 'js-yaml';

import type { ClientOptions } from './options';
import { defined } from '../defined';
import type { ExecCluster } from './exec-config';
import { execPluginOf } from './exec-config';
import type { ExecPlugin } from './exec-plugin';

/** What is wrong with a kubeconfig, in a sentence for the person who wrote it. */
export class KubeconfigError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KubeconfigError';
  }
}

export type KubeconfigSource =
  | { readonly path: string; readonly context?: string }
  /** Merged as client-go merges the files of $KUBECONFIG: the first file with a value wins, and missing files are skipped. */
  | { readonly paths: readonly string[]; readonly context?: string }
  /** Relative file names inside are taken from `directory`, else from the working directory. */
  | { readonly text: string; readonly directory?: string; readonly context?: string };

export interface Kubeconfig {
  /** Fit for createClient. */
  readonly client: ClientOptions;
  readonly context: string;
  /** The context's namespace, or `default`. */
  readonly namespace: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** One kubeconfig. Relative file names inside are taken from `directory`. */
interface Part {
  readonly config: Fields;
  readonly directory: string;
}

/**
 * Reads the chosen context (the current one if none is named). Throws KubeconfigError for anything missing, unreadable or not
 * supported (auth-provider plugins, user and password); the message names the files.
 */
export function loadKubeconfig(source: KubeconfigSource): Kubeconfig {
  if ('text' in source)
    return contextOf([{ config: parse(source.text), directory: source.directory ?? '.' }], source.context);
  const paths = 'path' in source ? [source.path] : source.paths.filter((path) => existsSync(path));
  if (paths.length === 0 && 'paths' in source)
    throw new KubeconfigError(`there is no kubeconfig at ${source.paths.join(' or ')}`);
  const parts = paths.map(readPart);
  return inFile(paths.join(delimiter), () => contextOf(parts, source.context));
}

function contextOf(parts: readonly Part[], chosen: string | undefined): Kubeconfig {
  const current = parts
    .map(({ config }) => string(config, 'current-context'))
    .find((name) => name !== undefined);
  const contextName = chosen ?? current ?? '';
  if (contextName === '') throw new KubeconfigError('the kubeconfig names no current-context');
  const { fields: context } = entry(parts, { list: 'contexts', key: 'context', name: contextName });
  const cluster = entry(parts, { list: 'clusters', key: 'cluster', name: string(context, 'cluster') ?? '' });
  const userName = string(context, 'user') ?? '';
  const user = userName === '' ? undefined : entry(parts, { list: 'users', key: 'user', name: userName });
  return {
    client: {
      ...clusterOptions(cluster.fields, cluster.directory),
      ...(user === undefined ? {} : userOptions(user.fields, { directory: user.directory, cluster })),
    },
    context: contextName,
    namespace: string(context, 'namespace') ?? 'default',
  };
}

export interface Credentials {
  /** By the name of the user. */
  readonly byUser: ReadonlyMap<string, Partial<ClientOptions>>;
  /** Credentials of the current context's user; undefined without one. */
  readonly current: Partial<ClientOptions> | undefined;
}

/** Reads all users of a kubeconfig. Throws KubeconfigError like `loadKubeconfig`. */
export function loadCredentials(path: string): Credentials {
  const part = readPart(path);
  return inFile(path, () => credentialsOf(part));
}

function credentialsOf({ config, directory }: Part): Credentials {
  const users = Array.isArray(config['users'])
    ? (config['users'] as readonly unknown[]).filter(isFields)
    : [];
  const byUser = new Map(
    users.map((each) => {
      const user = isFields(each['user']) ? each['user'] : {};
      return [string(each, 'name') ?? '', userOptions(user, { directory })] as const;
    }),
  );
  const context = string(config, 'current-context');
  if (context === undefined) return { byUser, current: undefined };
  const { fields } = entry([{ config, directory }], { list: 'contexts', key: 'context', name: context });
  const name = string(fields, 'user') ?? '';
  return { byUser, current: byUser.get(name) };
}

function clusterOptions(cluster: Fields, directory: string): ClientOptions {
  const server = string(cluster, 'server') ?? '';
  if (!/^https?:\/\/./.test(server)) {
    throw new KubeconfigError(
      `the cluster's server ${JSON.stringify(server)} is not an http or https address`,
    );
  }
  const ca = material(cluster, 'certificate-authority', directory);
  const tlsServerName = string(cluster, 'tls-server-name');
  return {
    server,
    ...defined({ ca, caFile: fileOf(cluster, 'certificate-authority', directory) }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
    ...defined({ tlsServerName }),
  };
}

interface UserPlace {
  readonly directory: string;
  /** The cluster of the user, if any. */
  readonly cluster?: Entry;
}

function userOptions(user: Fields, { directory, cluster }: UserPlace): Partial<ClientOptions> {
  for (const key of ['auth-provider', 'username', 'password']) {
    if (user[key] !== undefined) throw new KubeconfigError(`the user's ${key} is not supported`);
  }
  const cert = material(user, 'client-certificate', directory);
  const key = material(user, 'client-key', directory);
  if ((cert === undefined) !== (key === undefined)) {
    throw new KubeconfigError('a client certificate and its key come together, one of them is missing');
  }
  const certFile = fileOf(user, 'client-certificate', directory);
  const keyFile = fileOf(user, 'client-key', directory);
  const token = string(user, 'token');
  const tokenFile = string(user, 'tokenFile');
  const { exec } = user;
  return {
    ...defined({ cert, key }),
    // As in client-go: they are read again only if both are files.
    ...(certFile === undefined || keyFile === undefined ? {} : { certFile, keyFile }),
    // As in client-go: the file wins, and the token is only its initial value.
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(directory, tokenFile) }),
    ...defined({ token }),
    ...(isFields(exec) ? { exec: pluginOf(exec, { directory, ...defined({ cluster }) }) } : {}),
  };
}

function pluginOf(exec: Fields, { directory, cluster }: UserPlace): ExecPlugin {
  const pluginCluster = (): ExecCluster | undefined =>
    cluster === undefined ? undefined : execClusterOf(cluster.fields, cluster.directory);
  try {
    return execPluginOf(exec, directory, pluginCluster);
  } catch (error) {
    throw new KubeconfigError((error as Error).message, error);
  }
}

function execClusterOf(cluster: Fields, directory: string): ExecCluster {
  const { extensions } = cluster;
  return {
    server: string(cluster, 'server') ?? '',
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true,
    extensions,
    ...defined({
      tlsServerName: string(cluster, 'tls-server-name'),
      ca: material(cluster, 'certificate-authority', directory),
    }),
  };
}

/** PEM from `<key>-data` (base64, wins) or from the file that `<key>` names. */
function material(fields: Fields, key: string, directory: string): Buffer | undefined {
  const data = string(fields, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64');
  const file = fileOf(fields, key, directory);
  return file === undefined ? undefined : Buffer.from(readText(file));
}

/** The file that `<key>` names, unless the kubeconfig holds the data itself. */
function fileOf(fields: Fields, key: string, directory: string): string | undefined {
  const file = string(fields, `${key}-data`) === undefined ? string(fields, key) : undefined;
  return file === undefined ? undefined : resolve(directory, file);
}

interface Entry {
  readonly fields: Fields;
  readonly directory: string;
}

interface EntryPlace {
  readonly list: string;
  readonly key: string;
  readonly name: string;
}

function entry(parts: readonly Part[], { list, key, name }: EntryPlace): Entry {
  for (const { config, directory } of parts) {
    const entries = config[list];
    const found = Array.isArray(entries)
      ? (entries as readonly unknown[]).find((each) => isFields(each) && each['name'] === name)
      : undefined;
    const fields = isFields(found) ? found[key] : undefined;
    if (isFields(fields)) return { fields, directory };
  }
  throw new KubeconfigError(`the kubeconfig has no ${key} named ${JSON.stringify(name)}`);
}

function readPart(path: string): Part {
  const text = readText(path);
  return { config: inFile(path, () => parse(text)), directory: dirname(path) };
}

/** Puts the name of the file before the message of a KubeconfigError. */
function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new KubeconfigError(`${file}: ${error.message}`, error.cause);
  }
}

function parse(text: string): Fields {
  let value: unknown;
  try {
    value = load(text);
  } catch (error) {
    throw new KubeconfigError(`the kubeconfig is not YAML: ${(error as Error).message}`, error);
  }
  if (!isFields(value)) throw new KubeconfigError('the kubeconfig is empty');
  return value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`cannot read ${path}: ${(error as Error).message}`, error);
  }
}

function string(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
