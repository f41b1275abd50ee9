'use strict';

const { unit } = require('./deploy/local/test-tiers.json');
const { extendPath } = require('./deploy/local/tool-path.cjs');

extendPath();

// Suites that test another API level choose it themselves.
process.env.ORCH_API_LEVEL ??= '1.21';

/**
 * The longest that one test or hook may take, whatever the machine: it ends what hangs and measures nothing. It is longer than the waits of
 * tests (shared/testing/eventually.ts), whose errors say what did not happen. The full sizes of e2e take their time.
 */
const TEST_MINUTES_MAX = process.env.ORCH_E2E_SCALE === 'full' ? 60 : 10;

const common = {
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
      },
    ],
  },
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tools/'],
};

const unitSuites = unit.map((prefix) =>
  prefix.endsWith('.ts') ? `<rootDir>/${prefix}` : `<rootDir>/${prefix}/**/*.test.ts`,
);

module.exports = {
  testTimeout: TEST_MINUTES_MAX * 60_000,
  projects: [
    { ...common, displayName: 'unit', testMatch: unitSuites },
    {
      ...common,
      displayName: 'e2e',
      testMatch: ['<rootDir>/e2e/**/*.test.ts'],
      testPathIgnorePatterns: unit.map(
        (prefix) => `<rootDir>/${prefix}${prefix.endsWith('.ts') ? '$' : '/'}`,
      ),
    },
  ],
};
