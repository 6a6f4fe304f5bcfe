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
import { validator } from './index-answers.ts';

export const isIndexRow = validator(indexRow);
export const isBazaarListings = validator(bazaarListings);
export const isOffersOnChain = validator(offersOnChain);
export const isSettlementFacts = validator(settlementFacts);
export const isVerified = validator(Type.Boolean());
export const isPartners = validator(list(shape({ name: nullable(text), website: text })));
