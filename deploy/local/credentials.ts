import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '../../shared/files/atomic-file';
import { makeDirectory } from '../../shared/files/make-directory';
import { ensureServiceAccountKey } from '../../shared/tokens/service-account-key';
import { dialect, DIALECTS, USER, USER_GROUP } from '../../shared/names';
import type { SigningAuthorityFiles } from './signing-authority';
import { ensureSigningAuthority } from './signing-authority';

/** The credentials of the two users of a local set: administrator and controller-manager. */
export interface Credentials {
  /** The static token file of the API server. */
  readonly tokenFile: string;
  readonly adminToken: string;
  readonly controllerManagerToken: string;
  /** The private key for service account tokens: one for all replicas. */
  readonly serviceAccountKeyFile: string;
  /** The authority of client certificates for users and nodes. */
  readonly signingAuthority: SigningAuthorityFiles;
}

/**
 * Reads the tokens and keys in `dir`, or creates random ones at the first start. The files have mode 0600. The default name of the
 * controller-manager is that of the dialect of this process.
 */
export function ensureCredentials(
  dir: string,
  controllerManager: string = USER.controllerManager,
): Credentials {
  const tokenFile = path.join(dir, 'tokens.csv');
  if (!existsSync(tokenFile)) {
    makeDirectory(dir, 0o700);
    const rows = [
      `${newToken()},admin,admin,"${USER_GROUP.masters}"`,
      `${newToken()},${controllerManager},controller-manager,""`,
    ];
    writeFileAtomically(tokenFile, `${rows.join('\n')}\n`, 0o600);
  }
  const [adminToken, controllerManagerToken] = readFileSync(tokenFile, 'utf8')
    .split('\n')
    .map((row) => row.split(',')[0]);
  if (!adminToken || !controllerManagerToken) {
    throw new Error(`${tokenFile} does not hold two tokens. Delete it to generate new ones.`);
  }
  const serviceAccountKeyFile = ensureServiceAccountKey(dir).file;
  const signingAuthority = ensureSigningAuthority(dir);
  return { tokenFile, adminToken, controllerManagerToken, serviceAccountKeyFile, signingAuthority };
}

/** Returns the token of another user of the set, which is added to the file of tokens if it has none yet. To be called before the API server starts. */
export function ensureUserToken(dir: string, user: string): string {
  const tokenFile = path.join(dir, 'tokens.csv');
  const text = readFileSync(tokenFile, 'utf8');
  const known = text.split('\n').map((row) => row.split(','));
  const token = known.find(([, name]) => name === user)?.[0];
  if (token !== undefined) return token;
  const made = newToken();
  writeFileAtomically(tokenFile, `${text.trimEnd()}\n${made},${user},${user},""\n`, 0o600);
  return made;
}

/** Throws an Error if the data directory was created in the other dialect, as the name of the controller-manager's user shows. */
export function assertDialectOf(dir: string): void {
  const tokenFile = path.join(dir, 'tokens.csv');
  if (!existsSync(tokenFile)) return;
  const user = readFileSync(tokenFile, 'utf8').split('\n')[1]?.split(',')[1];
  if (user === USER.controllerManager) return;
  const other = DIALECTS.find((each) => each !== dialect) ?? '';
  throw new Error(
    `${dir} was created with --dialect=${other}, and its objects have the names of that dialect; start with --dialect=${other}, or choose another --data-dir`,
  );
}

/** Writes a self-contained kubeconfig with the certificate authority inside, with mode 0600. */
export function writeKubeconfig(
  file: string,
  { server, caFile, user, token }: { server: string; caFile: string; user: string; token: string },
): void {
  const text = `apiVersion: v1
kind: Config
clusters:
  - name: orch
    cluster:
      server: ${server}
      certificate-authority-data: ${readFileSync(caFile).toString('base64')}
users:
  - name: ${user}
    user:
      token: ${token}
contexts:
  - name: orch
    context:
      cluster: orch
      user: ${user}
current-context: orch
`;
  makeDirectory(path.dirname(file), 0o700);
  // An existing file would keep its mode.
  writeFileAtomically(file, text, 0o600);
}

const TOKEN_BYTES = 24;

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}
