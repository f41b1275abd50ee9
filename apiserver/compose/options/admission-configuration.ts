import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '../../engine/encoding/yaml';
import { PLUGIN_NAMES } from '../../kubernetes/admission/plugins';
import { fieldsOf, fieldsOfEach, optionalText, text } from '../../../shared/object/accessors';

export type AdmissionConfiguration =
  | { readonly ok: true; readonly configurations: ReadonlyMap<string, unknown> }
  | { readonly ok: false; readonly problem: string };

/** The file's content. */
interface Written {
  readonly kind: string;
  readonly plugins: readonly WrittenPlugin[];
}

interface WrittenPlugin {
  readonly name: string;
  readonly path: string;
  readonly configuration: unknown;
}

const KIND = 'AdmissionConfiguration';

/**
 * Reads the file of `--admission-control-config-file`: the configuration of each plugin, inline or in another file with a path relative
 * to it. An empty path means no configuration.
 */
export function readAdmissionConfiguration(file: string): AdmissionConfiguration {
  if (file === '') return { ok: true, configurations: new Map() };
  try {
    const { kind, plugins } = fieldsOf<Written>(readYaml(file));
    if (kind !== KIND) throw new Error(`the kind must be ${KIND}`);
    const configurations = new Map<string, unknown>();
    for (const plugin of fieldsOfEach<WrittenPlugin>(plugins)) {
      const name = text(plugin.name);
      if (!PLUGIN_NAMES.includes(name)) throw new Error(`there is no plugin named "${name}"`);
      if (configurations.has(name)) throw new Error(`${name} is listed more than once`);
      const other = optionalText(plugin.path) ?? '';
      configurations.set(
        name,
        other === '' ? plugin.configuration : readYaml(path.resolve(path.dirname(file), other)),
      );
    }
    return { ok: true, configurations };
  } catch (error) {
    return { ok: false, problem: `--admission-control-config-file ${file}: ${(error as Error).message}` };
  }
}

function readYaml(file: string): unknown {
  return parseYaml(readFileSync(file));
}
