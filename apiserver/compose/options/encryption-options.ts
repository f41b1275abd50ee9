import { readFileSync } from 'node:fs';
import { parseYaml } from '../../engine/encoding/yaml';
import type { EncryptionRules } from '../../engine/storage/decorators/encryption/encryption-rules';
import { parseEncryptionRules } from '../../engine/storage/decorators/encryption/encryption-rules';

export type EncryptionConfiguration =
  | { readonly ok: true; readonly rules: EncryptionRules | undefined }
  | { readonly ok: false; readonly errors: readonly string[] };

const FLAG = '--encryption-provider-config';

/** Reads the file of `--encryption-provider-config`. An empty path means no encryption. */
export function readEncryptionConfiguration(file: string): EncryptionConfiguration {
  if (file === '') return { ok: true, rules: undefined };
  try {
    const parsed = parseEncryptionRules(parseYaml(readFileSync(file)));
    if (parsed.ok) return parsed;
    return { ok: false, errors: parsed.problems.map((problem) => `${FLAG} ${file}: ${problem}`) };
  } catch (error) {
    return { ok: false, errors: [`${FLAG} ${file}: ${(error as Error).message}`] };
  }
}
