import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'prenota|prenoti|manda|mandi|invia|invii|paga|paghi|trasferisci|trasferisca|fai|faccia|metti|metta|aggiungi|aggiunga|compra|compri|ordina|ordini|attiva|attivi|blocca|blocchi|cancella|cancelli|chiama|chiami|continua|continui|usa|usi|prendi|prenda|apri|apra|chiudi|chiuda|conferma|confermi|colleghi|collega|passi|proceda|procedi|registri|salvi|fissi|fissa';

/** "Ventuno" to "novantanove". */
const pairs = spaced('vent trent quarant cinquant sessant settant ottant novant').flatMap((ten) => [
  ...spaced('uno un otto').map((one) => `${ten}${one}`),
  ...spaced('due tre tré quattro cinque sei sette nove').map(
    (one) => `${ten}${ten === 'vent' ? 'i' : 'a'}${one}`,
  ),
]);

export const italian: Language = {
  code: 'it',
  name: 'Italian',
  lines: {
    fillers: ['Un attimo, per favore.', 'Controllo subito.', 'Ancora un secondo.', 'Sono subito da lei.'],
    apology: 'Mi scusi, qualcosa è andato storto. Può ripetere, per favore?',
    misheard: 'Mi scusi, non ho capito. Può ripetere, per favore?',
    farewell: 'Arrivederci.',
    hold: 'Il problema non è ancora risolto. Resti in linea, per favore.',
    back: 'Grazie per aver atteso.',
    unheardNote: '[Chi chiama non ha sentito la sua risposta. La dia adesso.]',
    announcement: '',
    idleQuestion: 'È ancora in linea?',
    confirmQuestion: 'Vuole che proceda?',
    keysNote: '[Chi chiama ha premuto i tasti: {digits}]',
    returnLine: 'Mi dispiace, nessuno ha potuto rispondere. Come altro posso aiutarla?',
    operatorLost:
      'Mi scusi, il collegamento con il mio collega è caduto. Sono di nuovo con lei. Come posso aiutarla?',
  },
  backchannels: listed(
    'sì|già|ok|okay|okei|va bene|vabbè|certo|certamente|capisco|capito|ho capito|chiaro|esatto|giusto|perfetto|bene|molto bene|benissimo',
    "d'accordo|sicuro|infatti|appunto|ottimo|bello|vero|è vero|assolutamente|ci mancherebbe|ah ecco|ecco|proprio così|ci sta|dai",
    'nessun problema|non fa niente|si figuri|mica male|non male|come no|meno male',
  ),
  nods: {
    core: spaced(
      'oddio davvero interessante bello bellissimo buono bene benissimo magnifico meraviglioso stupendo splendido fantastico grandioso eccellente',
      'favoloso ottimo perfetto perfettamente giusto giustissimo corretto chiaro chiarissimo logico utile utilissimo comodo pratico gentile',
      'gentilissimo vero verissimo certo certamente sicuro sicuramente esatto esattamente infatti appunto ovvio ovviamente naturalmente',
      "effettivamente assolutamente totalmente capisco capito immagino d'accordo accordo ok okay sì già felice contento piacere meraviglia sollievo",
      'ragione senso fortuna dio mamma caspita wow accidenti incredibile impressionante divertente curioso strano rassicurante tranquillo sembra',
      'pare va so bravo eccome affascinante notevole sorprendente carino delizioso sollevato rassicurato suona suonano peccato simpatico triste',
      'generoso premuroso eccezionale straordinario pazzesco assurdo emozionante completamente pienamente sinceramente probabilmente pensavo',
      'immaginavo emozione emozionato contentissimo felicissimo furbo intelligente astuto colpito sorpreso stupito commosso grato soddisfatto',
      'convinto lusingato dimenticato sentito notato sperato aspettato pensato creduto supposto elegante tenero incoraggiante promettente',
      'rinfrescante piacevole tragico folle attento solido azzeccato abile evviva urrà ahia uffa boh mah perbacco cribbio cavolo capperi urca ehilà',
      'toh però pazienza sacrosanto tremendo matto sublime divino fenomenale sensazionale formidabile portentoso mitico figo allucinante',
      'sconvolgente commovente esilarante strabiliante sbalorditivo inaudito complimenti congratulazioni auguri magari',
    ),
    inflection: /[oaie]$/u,
    light: spaced(
      'grazie ah oh eh beh è lo la il un una mi ti si le di a per me molto proprio tutto così allora questo questa anche poi ha ho sono ne ci in',
      'effetti saperlo sapersi sentirlo cosa adesso ora ecco notizia idea mia mio fa bel tanto era stato davvero più',
      'bene stata',
      'lei lui noi voi loro funziona gli del della dei delle con su da al alla sarebbe stati sembrava avevo aveva avevano abbiamo hanno fosse meno',
      'abbastanza troppo veramente estremamente qui là quel quella quello quei quegli',
      'cose gesto pensiero scelta offerta storia coincidenza servizio soluzione',
    ),
    exclaiming: spaced('che quanto'),
    inverting: [],
    wondering: listed(
      'davvero|ah davvero|sul serio|ah sul serio|ah sì|è vero|ah è così|veramente|sicuro|vero|giusto',
    ),
    phrases: listed(
      "oh mamma|oh mio dio|ma dai|ma pensa|pensa un po'|ma va|ma no|ma certo|ma davvero|non mi dica|non ci credo|non lo sapevo|lo sapevo",
      'lo immaginavo|me lo immaginavo|lo pensavo|come pensavo|ah ecco perché|ecco perché|capisco cosa intende|capisco cosa vuole dire|meno male',
      "grazie al cielo|per fortuna|niente male|mica male|non male|non c'è problema|senza problemi|nessun problema|si immagini|si figuri",
      'ci mancherebbe|per forza|ci credo|eh già|come no|buono a sapersi|bene a sapersi|me lo posso immaginare|questo spiega tutto|questo spiega',
      'la seguo|la ascolto|ci sono|sono qui|mi piace|che sorpresa|che fortuna|non mi stupisce|tanto meglio|prendo nota|che bello|lo dicevo io',
      'meglio così|ancora meglio|è meglio così',
      "che peccato|come immaginavo|come previsto|lo sapevo già|me lo aspettavo|non ci posso credere|è un peccato|mi sta bene|mi va bene|chi l'avrebbe detto",
      "non ne avevo idea|non avevo idea|a chi lo dice|a chi lo dici|non me l'aspettavo|non me lo aspettavo|chi l'avrebbe mai detto",
      "chi lo avrebbe detto|chi se lo aspettava|da non credere|roba da matti|roba da pazzi|cose dell'altro mondo|cose da pazzi|così è la vita",
      'è la vita|che vuole farci|che ci vuole fare|era ora|finalmente|la capisco|la capisco bene|ti capisco|come la capisco|so cosa vuol dire',
      'lo so bene|hai voglia|altroché|e ci credo|dica pure|mi dica pure|ha ragione|hai ragione|lo credo bene|ci credo bene|mai sentito|mai sentita',
      "niente da dire|non c'è che dire|tanto di cappello|poveretto|poveretta|poverino|poverina|per carità|santo cielo|santa pazienza|madonna mia",
      'mi tranquillizza|questo mi tranquillizza|mi consola|mi rassicura',
      'che orribile|che terribile|che brutto',
    ),
    shapes: listed(
      'che *|che bella *|che bello *|che bel *|che brutta *|che gran *|ma che *|ma che bella *|ma che bel *|ma pensa *|ma guarda *|ma guarda un *',
      "quanto è *|com'è *|è *issimo|è *issima|è *ante|è *oso|*issimo|*issima|povero *|povera *|poveri *|è davvero *|è proprio *|è veramente *",
      'è così *|sembra *|suona *|mi sembra *|mi pare *|è una bella *|è un bel *|splendida *|ottima *|bella *|bel *|wow …|caspita …|accidenti …',
      'mamma mia …|oddio …|cavolo …|urca …|perbacco …|oh cielo …|dio mio …',
    ),
    telling: spaced(
      "ora ore giorno giorni numero numeri tipo colore prezzo taglia data nome indirizzo modello cosa è sono era vuole vuoi dice significa cos'è",
      "com'è c'è ci fa fai faccio devo succede orari orario documenti documento treno volo piano città via strada codice marca camera stanza anno",
      'mese opzione opzioni tariffa lingua sito conto ne lontano lungo lunga grande alto alta grosso largo non no mai male sbagliato sbagliata',
      'errore caro cara tardi presto poco piccolo urgente importante distante pesante costoso possibile impossibile disponibile sufficiente gratis',
      'rotto chiuso con senza per in a al di da del dal il lo la i gli le un una uno mi ti si suo mio mia io lei lui noi voi domani ieri oggi adesso',
      'dopo prima lunedì martedì mercoledì giovedì venerdì sabato domenica se che quale quando dove altro altra altri mattina sera scusi aspetti può',
      'posso ho ha pago maria anna luca orribile terribile pessimo',
      'modulo assicurazione compagnia ditta contratto abbonamento fattura carta banca ufficio filiale prodotto termine importo ordine medico',
      'medicina versione pagamento spedizione società domanda agenzia formula',
    ),
  },
  goodbyes: listed(
    'arrivederci|arrivederla|ciao|ciao ciao|grazie|grazie mille|molte grazie|grazie tante|grazie a lei|buona giornata|buona serata|buonanotte',
    'a presto|altrettanto|anche a lei|a lei|salve|addio|ci sentiamo|a risentirci|buona giornata anche a lei|grazie altrettanto|bye',
  ),
  urgent: spaced(
    'no non ferma fermi fermo fermati aspetta aspetti alt stop basta cosa che chi quando dove come perché quale quanto scusi scusa momento',
  ),
  hesitations: spaced(
    'ehm eh em uhm mmm beh boh cioè e ed o oppure ma però perché che il lo la i gli le un uno una di del dello della dei degli delle a al allo alla',
    'ai agli alle da dal dalla in nel nella nei con col per su sul sulla tra fra mio mia miei mie suo sua nostro nostra molto mi',
  ),
  doubtful: spaced(
    'allora quindi poi così bene ecco questo questa quello quella se quando come è sono anche più tipo diciamo forse non ci',
  ),
  leadingEnd: undefined,
  begun: listed(
    'mi chiamo|il mio nome è|io sono|io mi chiamo|vorrei|volevo|vorrei sapere|ho bisogno di|mi serve|il mio numero è|il numero è|devo|sto cercando',
    'può|potrebbe|posso|avete|è possibile|penso che|credo che|cioè che|nel senso',
    "d'altra parte|da un lato|prima di tutto|per esempio|ad esempio|a essere sincero|in altre parole|nel mio caso|se possibile|il problema è|la domanda è|il mio indirizzo è|a proposito di",
  ),
  openings: listed(
    "em|allora|dunque|cioè|beh|be'|bè|insomma|diciamo|praticamente|in pratica|in realtà|guardi",
    'guarda|senta|senti|quindi|vabbè|ma|il|mi chiamo|io mi chiamo|il mio nome è|il mio numero è',
  ),
  shortQuestions: listed(
    'fino a quando|fino a che ora|da quando|per quando|a che ora|con chi|per chi|da dove|perché no|che altro|chi altro|quale dei due|per quanto tempo',
  ),
  thinking: listed(
    "vediamo|vediamo un po'|fammi vedere|mi faccia vedere|fammi pensare|mi faccia pensare|mi lasci pensare|mi lasci vedere|mi faccia controllare|mi faccia guardare|ci penso|ci devo pensare|devo pensarci|sto pensando|un attimo|un attimo solo|un attimino|un momento|un momentino|un secondo",
    'un minuto|un attimo per favore|un momento per favore|attimo|aspetti|aspetta|aspetti un attimo|aspetti un momento|aspetta un attimo|aspetti un secondo|mi dia un attimo|mi dia un secondo|mi dia un momento|dammi un secondo|devo guardare|devo controllare|devo cercare|devo cercarlo|lo sto cercando|sto cercando',
    'sto guardando|guardo subito|guardo un attimo|lo cerco|controllo un attimo|come si dice|bella domanda|buona domanda|che dire|resti in linea|abbia pazienza',
    'vediamo un attimo|mi faccia vedere un attimo|aspetti che guardo|aspetta che guardo|aspetti che controllo|come dire|come posso dire|fammi controllare|un secondo solo|un secondo per favore|un attimo che guardo',
    'torno subito|arrivo subito',
  ),
  askingForTime: {
    moments: spaced(
      'momento momentino attimo attimino secondo secondino secondi minuto minutino minuti istante pazienza attendere',
    ),
    granting: spaced("un due solo soltanto ancora mi dia dammi può abbia po' di aspetti aspetta"),
    own: listed(
      'devo|sto|lo sto|la sto|mi lasci|mi faccia|fammi|lasciami|prendo|cerco|apro|guardo|chiedo|vado a|che|il tempo di|controllo|tiro',
      'vado|scendo|salgo|accendo|mi dia il tempo di|solo un istante che|un attimo che|un momento che|un istante che',
    ),
    looks: spaced(
      'cercare cercando cerco cercarlo cercarla guardare guardo guardando guardarci controllare controllo controllando controllarlo trovare trovo trovarlo',
      'trovarla verificare verifico',
    ),
    takes: spaced(
      'prendere prendo prenda prendendo aprire apro aprendo chiedere chiedo tirare tiro tirando recuperare recupero accedere collegarmi',
      'vado scendere scendo salire salgo accendere accendo prenderlo prenderla mettere metto',
    ),
    things: spaced(
      "l'agenda l'app l'applicazione l'email carta tessera occhiali penna matita foglio passaporto portafoglio lettera mail email e-mail posta app applicazione documento documenti patente",
      'bolletta fattura agenda calendario appunti busta cartella moglie marito capo collega madre padre mamma papà figlio figlia compagno compagna schermo',
      'ricevuta',
      'scrivania computer cassetto vivavoce sopra sotto',
    ),
    after: spaced(
      "un attimo subito prima lo la po' adesso velocemente qui fuori ora questo",
      'alla al il in a',
    ),
  },
  corrections: listed(
    'no scusi|scusi no|no scusa|no aspetti|no volevo dire|volevo dire|voglio dire|cioè no|no cioè|anzi|anzi no|no anzi|o meglio|mi correggo|no no',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`numero|cifr[ae]|riferimento|codice|\bcap\b|lettera per lettera|compit|scandisc|sillab|targa|posta elettronica|e-?mail|\b(?:pin|iban)\b`,
    spelled: String.raw`lettera per lettera|compit|scandi|sillab|spelling`,
    counted: 'cifre|numeri|caratteri|lettere',
    values: spaced(
      'zero uno/una/un due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
      'venti ventuno/ventun ventidue ventitré/ventitre ventiquattro venticinque ventisei ventisette ventotto ventinove trenta',
    ),
    digits: [],
    tens: spaced('quaranta cinquanta sessanta settanta ottanta novanta'),
    pairs,
    double: spaced('doppio doppia'),
    triple: spaced('triplo tripla'),
    between: spaced('e poi trattino meno punto spazio virgola ehm eh'),
    mailAsked: 'e-?mail|posta elettronica|indirizzo mail',
    joints: spaced('punto trattino underscore sottolineato lineetta'),
    ats: spaced('chiocciola at'),
  },
  sentences: {
    abbreviations: spaced(
      'sig sigg sigra dott dr dottssa prof avv ing geom arch rag spett gent egr n tel pag art es ecc ca cap int ss',
    ),
    lastAbbreviations: spaced('ecc'),
    openers: spaced('io lei noi voi loro il la lo i gli le un una può vuole ho ha e ma se per grazie questo'),
    leadsOn: spaced(
      'il lo la i gli le un uno una di del dello della dei degli delle a al alla ai alle da dal dalla in nel nella con per su sul sulla tra fra',
      'e ed o ma che se mio mia suo sua sono è ha ho non molto più mi si ci',
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      "sì|si|certo|certamente|va bene|vabbè|ok|okay|okei|d'accordo|esatto|giusto|corretto|perfetto|assolutamente|sicuro|sicuramente|senz'altro",
      'volentieri|proceda|procedi|lo faccia|fallo|faccia pure|confermo|ovviamente|naturalmente|benissimo|come no|esattamente|sissignore',
    ),
    no: listed(
      'no|non|mai|nessuno|niente|basta|fermo|fermi|ferma|stop|aspetti|aspetta|annulli|annulla|cancelli tutto|sbagliato|lasci|lascia|lasci stare|lasci perdere',
      'lascia stare|lascia perdere|neanche|nemmeno|macché|un momento|un attimo',
      'certo che no|certamente no|assolutamente no|ovviamente no|sicuramente no|naturalmente no|certo no|di sicuro no',
    ),
    firmYes: listed("sì|certo|certamente|assolutamente|senz'altro|ovviamente|naturalmente"),
    // "Lo prenoti", "me la mandi" and "prenotalo" as well.
    order: new RegExp(
      `^(?:(?:me |ce )?(?:lo|la|li|le|mi) )?(?:${orders})(?: |$)|^\\p{L}+[aie](?:me|te)?l[oaie](?: |$)`,
      'u',
    ),
    told: /(?:[aei]vo|[aei]to|erò|irò|iamo)$/u,
    accepts: listed(
      'mi va bene|per me va bene|va benissimo|va bene così|va bene per me|sarebbe perfetto|sarebbe ottimo|sarebbe bello|sarebbe gentile|sarebbe molto gentile',
      'sarebbe fantastico|sarebbe meraviglioso|mi farebbe piacere|mi fa piacere|con piacere|molto volentieri|è quello che voglio|è giusto|è corretto|è esatto',
      "sono d'accordo|sono sicuro|sono sicura|lo voglio|la voglio|accetto|buona idea|ottima idea|può farlo|può procedere|può andare|faccia|facciamolo|facciamo così",
      'se può|se gentilmente può|mi sembra perfetto|mi sembra giusto|proprio così|è così|tutto giusto|tutto corretto|ci mancherebbe',
    ),
    wishes: listed('vorrei|voglio|mi piacerebbe|mi piacerebbe molto|desidero'),
    courtesies: listed(
      'per me|per noi|subito|grazie per laiuto|grazie dellaiuto|oh|ah|hm|hmm|super',
      'ehm|eh|beh|allora|guardi|per favore|per piacere|per cortesia|prego|grazie|grazie mille|molte grazie|grazie tante|signore|signora|signorina',
      'molto gentile|gentilissimo|gentilissima|ottimo|bene|molto bene|bello|fantastico|meraviglioso|eccellente|dai',
    ),
    light: spaced('lo la che questo questa è così pure poi'),
    tellers: spaced('io mio mia miei mie ho noi nostro nostra lui lei mi'),
    openers: spaced('il i gli le un uno una per a ad in con di da del della al alla alle e anche su'),
    hedges: spaced(
      'ma però se forse magari credo penso suppongo oppure o invece piuttosto prima dopo solo soltanto altro altra diverso diversa meglio cambiare tranne',
      'eccetto cosa come quale quando perché chi dove quanto può potrebbe dipende aspettando so capisco capito sento vedo domanda chiedere pronto buongiorno ancora già qui chiamo',
      'probabilmente spero comunque speriamo pensavo ripeta ripeti spieghi spiega senta senti vediamo minuto',
    ),
    details: spaced(
      'due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta mezza mezzo entrambi oggi domani dopodomani stasera mattina pomeriggio sera notte mezzogiorno',
      'settimana mese prossimo prossima ore lunedì martedì mercoledì giovedì venerdì sabato domenica persone anche',
    ),
    noRefusal: listed(
      'nessun problema|non cè problema|perché no|come no|non ho obiezioni|non si preoccupi|se non le dispiace|senza problemi|non fa niente',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|annull|disd)/u,
        said: listed(
          'annulli|annulla|annullare|cancelli|cancella|cancellare|cancelli tutto|disdica|disdici|disdire|annullalo|annullala|cancellalo|cancellala|disdicilo|disdicila',
        ),
        clear: listed(
          'lo annulli|la annulli|annullalo|annullala|lo cancelli|la cancelli|cancellalo|cancellala|lo disdica|la disdica|disdicilo|disdicila|annulli per favore|per favore annulli|cancelli per favore|per favore cancelli|può annullare|può cancellare|può disdire',
        ),
      },
      {
        tool: /(?:^| )(?:stop|ferm|sospend|paus)/u,
        said: listed('fermi|ferma|stop|fermare|sospenda|sospendi|fermalo|fermala'),
        clear: listed('lo fermi|la fermi|fermalo|fermala|la sospenda|lo sospenda'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|elimin|rimuov|cancell)/u,
        said: listed('elimini|elimina|eliminare|rimuova|rimuovi|rimuovere|cancelli|cancella|cancellare'),
        clear: listed(
          'lo elimini|la elimini|lo rimuova|la rimuova|lo cancelli|la cancelli|elimini per favore|per favore elimini',
        ),
      },
    ],
  },
};
