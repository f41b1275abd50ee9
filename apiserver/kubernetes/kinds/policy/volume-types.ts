import type { Volume } from '../../../../shared/api/types/core-v1';
import { VOLUME_SOURCES } from '../pod-template/volume-sources';

/** One type has another name in security policies than its field has. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['cephfs', 'cephFS']]);

const SOURCES = [...Object.keys(VOLUME_SOURCES), 'ephemeral'] as readonly (keyof Volume)[];

/** The types of volumes as security policies call them, in the order of their names. */
export const VOLUME_TYPES: readonly string[] = SOURCES.map(nameOf).sort();

/** Of which type a volume is; undefined where it has no source. */
export function volumeTypeOf(volume: Volume): string | undefined {
  const source = SOURCES.find((field) => volume[field] !== undefined);
  return source && nameOf(source);
}

function nameOf(field: string): string {
  return OTHER_NAMES.get(field) ?? field;
}
