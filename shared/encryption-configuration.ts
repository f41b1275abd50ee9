import { randomBytes } from 'node:crypto';
import { GROUP } from './names';

/** Files for `--encryption-provider-config` with one new key: by which objects are written encrypted, and by which they can only be read so. */
export interface EncryptionConfigurations {
  readonly encrypting: string;
  /** For replicas that must read what others will write encrypted later. */
  readonly reading: string;
}

/** Makes a key of its own (32 random bytes, secretbox) for these resources. What was stored without a key stays readable. */
export function newEncryptionConfigurations(resources: readonly string[]): EncryptionConfigurations {
  const key = `secretbox: { keys: [{ name: key1, secret: ${randomBytes(KEY_BYTES).toString('base64')} }] }`;
  const configuration = (...providers: readonly string[]): string => `apiVersion: ${GROUP.apiserverConfig}/v1
kind: EncryptionConfiguration
resources:
  - resources: ${JSON.stringify(resources)}
    providers:
${providers.map((provider) => `      - ${provider}\n`).join('')}`;
  return { encrypting: configuration(key, PLAIN), reading: configuration(PLAIN, key) };
}

const KEY_BYTES = 32;
const PLAIN = 'identity: {}';
