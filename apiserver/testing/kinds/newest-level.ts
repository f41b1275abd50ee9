/**
 * Imported first by a suite, before any module that reads the API level: the suite serves this release. Such a suite is listed under `alone`
 * in `test-tiers.json`, because modules keep the level with which they were loaded.
 */
export const NEWEST_LEVEL = '1.36';

process.env['ORCH_API_LEVEL'] = NEWEST_LEVEL;
