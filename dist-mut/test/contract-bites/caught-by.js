/** Which case of the contracts must catch which faults of `broken-by-documentation.ts`. */
export const caughtBy = {
    'keeps ids exactly, at both ends of int64 and around 2^53': [
        'an id beyond 2⁵³ is stored rounded to a JavaScript number',
        'an id names two plants: ids that round to one JavaScript number count as the same id',
        'an id is stored as an int32 instead of an int64',
        'a negative id is stored without its sign',
        'readAll leaves out the plant with the smallest id there is',
        'readAll leaves out the plant with the largest id there is',
    ],
    'keeps text code point for code point': [
        'white space around a name is not kept',
        'white space around a tag is not kept',
        'spaces at the end of a name are not kept',
        'texts are kept normalised to NFC, not code point for code point',
        'code points beyond U+FFFF are kept as U+FFFD',
        'code points beyond U+00FF are kept as question marks',
        'U+FEFF at the start of a text is taken for a byte order mark and lost',
        'carriage returns in a text are not kept',
        'a text is kept only up to its first line feed',
        'quotation marks in a text are kept doubled',
        'backslashes in a text are not kept',
        'the empty name, which is any text too, is not kept as empty',
        'the tag "null" is kept as no tag',
    ],
    'keeps a text of a megabyte': [
        'a text is kept only up to 255 code points',
        'a refused plant (more than 8,000 characters) throws for the whole batch',
        'a refused plant (more than 8,000 characters) has its neighbours refused too',
    ],
    'tells no tag from an empty tag': [
        'an empty tag is kept as no tag',
        'no tag is kept as an empty tag',
        'no tag is kept as the tag "undefined"',
    ],
    'tells of a taken id which plant holds it': [
        'the holder of a taken id is the plant that was to be added, not the one that already holds it',
        'the holder of a taken id is told without its tag',
        'the holder of a taken id is a bare row, no Plant',
        'a taken id is told as a refused plant',
        "a taken id throws the driver's error instead of an outcome",
    ],
    'returns the outcomes in the order of the plants': [
        'the outcomes stand with the added ones first, not in the order of the plants',
        'the outcomes stand in the order of the ids, not in the order of the plants',
    ],
    'of two plants with one id in a batch the first counts': [
        'of several plants with one id in a batch only the first has an outcome',
        'of several plants with one id the last in the batch counts as the earlier one',
    ],
    'tells so of the very same plant, too': ['the very same plant, added again, is told as added instead of taken'],
    'never changes a plant that it keeps': [
        'adding a plant whose id is taken changes the plant that holds it',
        'adding a plant whose id is taken gives the holder its missing tag',
    ],
    'of one plant that is twice in a batch the second is taken': [
        'several plants with one id in one batch are all added',
    ],
    'adds neighbours of a taken plant': [
        'a taken plant takes its neighbours along: told as added, not stored',
        'the plants after a taken one are not added and have no outcome',
    ],
    'an empty batch has no outcomes': ['adding no plants throws instead of giving no outcomes'],
    'takes thousands of plants in one batch': [
        'a batch of more than 1,000 plants throws',
        'a batch of more than 21,845 plants throws, for want of placeholders',
        'plants beyond the 1,000th of a batch are told as added, not stored',
    ],
    'of a hundred concurrent adds of one id exactly one is added': [
        'two adds at once of one id are both told as added, and the later changes the plant',
        'of two adds at once of one id the later throws StorageUnavailable',
    ],
    'concurrent batches with overlapping ids give each id to exactly one plant': [
        'adds at once of different ids lose the plants of all but the last',
        'of two adds at once the later is told its own plant as the holder',
    ],
    'reads every plant back once, ascending by id': [
        'add resolves before the added plants are stored',
        'readAll goes by the text of the id, not ascending by id',
        'readAll gives negative ids after positive ones, as if unsigned',
        'readAll goes by the id as a JavaScript number, so that ids beyond 2⁵³ are out of order',
        'readAll goes in the order of arrival, not ascending by id',
        'readAll is ascending within each batch of 100, not from batch to batch',
        'readAll is ascending from batch to batch, and descending within each batch of 100',
        'readAll gives the last plant of each batch of 100 again in the next',
        'readAll leaves out one plant between two batches of 100',
        'readAll gives at most 1,000 plants, not every plant',
        'readAll leaves out plants with negative ids',
        'readAll leaves out the plant with the id 0',
        'readAll gives bare rows, no Plants',
        'a second reading leaves out what an earlier one gave',
    ],
    'leaves the batches that a reader has as they were': [
        'readAll gives every batch of 100 in one array, which the next batch overwrites',
    ],
    'reads the same where a reader changed a batch that it was given': [
        'readAll hands out its own array, so that who changes a batch changes what is read later',
    ],
    'reads every plant once, ascending by id, while others are added': [
        'a plant added while reading, with a smaller id, has a plant given twice at the next batch of 100',
        'plants cannot be added while reading: StorageUnavailable',
    ],
    'reads every plant to each of several readers at once': [
        'two readings at once share their place, so that both leave plants out',
    ],
    'goes on working where a reader leaves early': [
        'after a reading that was broken off every call throws StorageUnavailable',
    ],
    'readAll throws StorageUnavailable after close, while iterating': [
        'readAll after close throws when called, not while iterating',
        "readAll after close throws the driver's error, not StorageUnavailable",
        'readAll after close gives no plants instead of throwing',
    ],
    'add throws StorageUnavailable after close': [
        "add after close throws the driver's error, not StorageUnavailable",
        'add after close still adds',
        'adding no plants after close does not throw',
        'calls after close open the storage again',
    ],
    'ready throws StorageUnavailable after close': [
        "ready after close throws the driver's error, not StorageUnavailable",
        'ready after close resolves',
    ],
    'closing twice does nothing': ['closing again throws instead of doing nothing'],
    'finishes what is under way before it is closed': [
        'close does not finish an add under way: it throws StorageUnavailable',
        'close resolves before an add under way has resolved',
    ],
    'a reader that goes on after close reads every plant or throws StorageUnavailable': [
        'close ends a reading under way after a batch of 100 as if it were complete',
    ],
    'knows nobody for a valid token in other letter case': [
        'a token that differs from a valid one in case has a principal',
    ],
    'knows nobody for a valid token between blanks': ['a valid token with white space around it has a principal'],
    'knows nobody for a valid token and one more character': ['a token that goes on after a valid one has a principal'],
    'knows nobody for the beginning of a valid token': [
        'the beginning of a valid token has a principal',
        'a token of another length than a valid one throws instead of giving undefined',
    ],
    'knows nobody for an empty token': ['the empty token has a principal'],
    'knows nobody for a valid token after its scheme': ['a valid token sent with its scheme has a principal'],
    'knows nobody for another token': [
        'a token that is not valid throws an error instead of giving undefined',
        'a token that is not valid throws TokenIssuerUnavailable instead of giving undefined',
        'a token that is not valid gives null instead of undefined',
        'a token that is not valid gives a principal without a name instead of undefined',
    ],
    'knows nobody for a token with characters that no token may have': [
        'a token that is not Base64 throws instead of giving undefined',
    ],
    'gives a name that reveals nothing of the token': [
        'the subject is the token',
        'the subject reveals the first eight characters of the token',
        'the subject reveals the last four characters of the token',
        'the subject reveals the token in Base64',
    ],
    'knows who a valid token stands for': ['the subject of a valid token is empty, no name'],
    'gives one token the same name each time': [
        'a valid token stands for another principal at every call',
        'a valid token is valid only once',
    ],
    'knows nobody for another token after a valid one': ['after a valid token every token has its principal'],
    'knows who a valid token stands for after tokens that are not': [
        'after a token that is not valid the valid one has no principal',
    ],
    'answers many at once, each for its own token': ['of two calls at once the earlier has the answer of the later'],
};
//# sourceMappingURL=caught-by.js.map