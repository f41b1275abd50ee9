import type { ParsedFlags } from '../../../shared/flags/parse-flags';
import { parseFlags } from '../../../shared/flags/parse-flags';
import { FLAG_ROWS } from './flag-rows';
import { FOREIGN_FLAGS } from './foreign-flags';

/** Parses the command line of the API server (without the program itself), including flags of kube-apiserver without effect. */
export function parseServerFlags(argv: readonly string[]): ParsedFlags<typeof FLAG_ROWS> {
  return parseFlags(FLAG_ROWS, argv, FOREIGN_FLAGS);
}
