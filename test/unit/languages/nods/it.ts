import { listed } from '../../../../shared/base/listed.ts';

export const italian = {
  nods: listed(
    'ah davvero|davvero|buono a sapersi|interessante|ah che bello|oh wow|è fantastico|è una buona cosa|è interessante|ah capisco|ah ok|ah va bene|molto bene allora|ah bene|ah ottimo|ah perfetto|che bello',
    'bene a sapersi|mi fa piacere|ne sono felice|sono contenta|sono contento|che bella notizia|bella notizia|magnifico|meraviglioso|stupendo|splendido|fantastico|grandioso|eccellente|favoloso|che meraviglia',
    'mi sembra giusto|mi sembra ottimo|mi sembra perfetto|mi pare giusto|mi va bene|per me va bene|va benissimo|va benissimo così|va bene così|è perfetto|è giusto|è corretto|è chiaro|è tutto chiaro|tutto chiaro|tutto bene',
    "è molto utile|molto utile|molto interessante|davvero interessante|che interessante|che gentile|molto gentile|oddio|oh mio dio|mamma mia|ma dai|ma pensa|pensa un po'|ma no|non mi dica|non ci credo|sul serio|ah sul serio",
    'ah sì|ah sì certo|ah è così|ah ecco perché|ecco appunto|ah già|eh già|eh sì|beh certo|ok perfetto|ok va bene|ok bene|ok ottimo|ok grazie|certo certo capisco|sì certo',
    'sì esatto|sì esattamente|sì infatti|sì giusto|sì va bene|sì perfetto|sì capisco|sì ho capito|sì è vero|esattamente|proprio vero|ha ragione|ha proprio ragione|ha perfettamente ragione|buona idea|ottima idea|bella idea',
    "ha senso|mi sembra logico|logico|è logico|lo capisco|capisco bene|capisco perfettamente|adesso capisco|ora capisco|ora ho capito|lo so|sì lo so|lo so bene|non lo sapevo|lo immaginavo|me lo immaginavo|lo pensavo|sono d'accordo|capisco cosa intende|immagino",
    "naturalmente|ovviamente|effettivamente|in effetti|assolutamente sì|totalmente|sicuramente|per forza|meno male davvero|grazie al cielo|per fortuna|che sollievo|niente male|mica male davvero|non c'è problema|senza problemi|si immagini",
  ),
  interruptions: listed(
    "stop|aspetti|un attimo|no|no no no|no grazie|non quello|scusi|mi scusi|come|cosa|cosa ha detto|può ripetere|ripeta per favore|più piano|più forte|non la sento|cosa intende|che cos'è",
    "chi è|quanto|quanto costa|quanto ci vuole|quando è|dov'è|quale|perché no scusi|perché|a che ora|venerdì|lunedì per favore|alle sette|per quattro persone|meglio cinque|quello blu|il secondo|quello più economico|meglio domani|la settimana prossima",
    "in realtà no|ho cambiato idea|annulli|annulli l'ordine|lasci perdere|lasci stare|non lo voglio|non mi serve|è sbagliato|non è così|non ho chiesto questo|non è il mio nome|mi chiamo Anna|è Rossi|no è Bianchi|intendevo martedì|ho detto quindici",
    "posso chiedere una cosa|posso parlare con qualcuno|voglio una persona|mi passi un operatore|ho una domanda|una domanda|un'altra cosa|ma ho già pagato|ma aspetti|ma è troppo tardi|ma perché|sì ma non oggi|ok ma quanto costa|mi serve aiuto|mi aiuti|voglio un rimborso|voglio pagare",
    'vorrei prenotare|mi serve la fattura|lo mandi per email|mi richiami|torni indietro|salti questo|avanti|ricominci da capo|stia zitto|mi ascolti|pronto|è ancora lì|avete il parcheggio|la colazione è inclusa|è aperto adesso|costa di più|e domenica|meglio alle sei|troppo caro|troppo tardi|troppo presto',
    "due biglietti|tre notti|con vista|senza cipolla|per Roma|dall'aeroporto|con la carta|in contanti|con mia moglie|l'altro indirizzo|è rotto|non funziona|ho fretta|devo andare|sto guidando|non ho finito|mi lasci finire",
  ),
};
