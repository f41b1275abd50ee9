import type { Check } from '../checks/finding';

/** Known bugs of similar servers. `plant.ts` adds one to a process, and the checks listed here must find it. */
export const PLANTED_BUGS = {
  'stale read from the cache': ['fresh reads', 'linearizable'],
  "watch resumed at the header's revision": ['watch complete'],
  'event lost on reconnect': ['watch complete', 'list is one snapshot', 'linearizable'],
  'notification before its event': ['fresh reads', 'linearizable'],
  'off-by-one start': ['watch complete'],
  'delete dropped at a compaction': ['watch complete', 'list is one snapshot', 'linearizable'],
  'retry applied twice': ['applied once', 'no lost update'],
  'bookmark too new': ['bookmarks true'],
  'page from another snapshot': ['list is one snapshot'],
  'old leader still writes': ['one acting leader'],
} as const satisfies Readonly<Record<string, readonly Check[]>>;
export type PlantedBug = keyof typeof PLANTED_BUGS;

export const PLANTED_BUG_NAMES: readonly PlantedBug[] = Object.keys(PLANTED_BUGS).filter(isPlantedBug);

export function isPlantedBug(name: string): name is PlantedBug {
  return name in PLANTED_BUGS;
}
