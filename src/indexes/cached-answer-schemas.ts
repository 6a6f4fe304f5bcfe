/**
 * Validators of cached third-party answers. An older release or a person may have written a cached answer, so it is
 * validated like a fresh one.
 */
import { Type } from 'typebox';
import { list, nullable, shape, text } from '../model/shapes.ts';
import {
  bazaarListings,
  indexRow,
  offersOnChain,
  settlementFacts,
} from '../model/third-parties.ts';
import { compileValidator } from './index-answers.ts';

export const isIndexRow = compileValidator(indexRow);
export const isBazaarListings = compileValidator(bazaarListings);
export const isOffersOnChain = compileValidator(offersOnChain);
export const isSettlementFacts = compileValidator(settlementFacts);
export const isVerifiedFlag = compileValidator(Type.Boolean());
export const isPartners = compileValidator(list(shape({ name: nullable(text), website: text })));
