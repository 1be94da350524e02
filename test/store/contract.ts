/**
 * What every store promises, whatever database is behind it.
 *
 * `makeDatabase` answers the URL of an empty one; stores of the same URL are as
 * separate as those of two processes, except where a test starts real ones.
 */
import { describe } from 'vitest';
import { actorContract } from './contract-actors.js';
import { dispatchContract } from './contract-dispatch.js';
import { lookingContract } from './contract-looking.js';
import { openingContract } from './contract-opening.js';
import { readerContract } from './contract-reader.js';
import { restContract } from './contract-rest.js';
import { secretsContract } from './contract-secrets.js';
import type { MakeDatabase } from './fixtures.js';

export function storeContract(makeDatabase: MakeDatabase): void {
  describe('opening', () => openingContract(makeDatabase));
  describe('actors', () => actorContract(makeDatabase));
  describe('putting an actor down', () => restContract(makeDatabase));
  describe('dispatch', () => dispatchContract(makeDatabase));
  describe('looking', () => lookingContract(makeDatabase));
  describe('reading only', () => readerContract(makeDatabase));
  describe('sealed secrets', () => secretsContract(makeDatabase));
}
