'use strict';

const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    },
  ],
};

const common = { transform, testEnvironment: 'node', modulePathIgnorePatterns: ['<rootDir>/dist/'] };

module.exports = {
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apiserver,controller-manager,deploy,shared}/**/*.test.ts'],
    },
    { ...common, displayName: 'e2e', testMatch: ['<rootDir>/e2e/**/*.test.ts'] },
  ],
};
