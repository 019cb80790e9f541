import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'boek|reserveer|stuur|verstuur|betaal|bestel|maak|zet|leg|plan|voeg|verwijder|bel|activeer|blokkeer|neem|gebruik|open|sluit|bevestig|annuleer|verbind|koop|pak|start|ga|regel|noteer|schrijf';

/** "Eenentwintig" to "negenennegentig". */
const pairs = spaced('twintig dertig veertig vijftig zestig zeventig tachtig negentig').flatMap((ten) =>
  spaced('eenen tweeën tweeen drieën drieen vieren vijfen zesen zevenen achten negenen').map(
    (one) => `${one}${ten}`,
  ),
);

export const dutch: Language = {
  code: 'nl',
  name: 'Dutch',
  lines: {
    fillers: ['Een moment, alstublieft.', 'Ik kijk het even na.', 'Nog een ogenblik.', 'Ik ben zo bij u.'],
    apology: 'Sorry, er ging aan mijn kant iets mis. Kunt u dat herhalen?',
    misheard: 'Sorry, dat heb ik niet verstaan. Kunt u dat herhalen?',
    farewell: 'Tot ziens.',
    hold: 'Het lukt helaas nog niet. Blijft u alstublieft aan de lijn.',
    back: 'Bedankt voor het wachten.',
    unheardNote: '[De beller heeft uw antwoord niet gehoord. Geef het nu.]',
    announcement: '',
    idleQuestion: 'Bent u er nog?',
    confirmQuestion: 'Zal ik dat doen?',
    keysNote: '[De beller heeft deze toetsen ingedrukt: {digits}]',
    returnLine: 'Helaas kon niemand uw gesprek aannemen. Waarmee kan ik u verder helpen?',
    operatorLost: 'Sorry, de verbinding met mijn collega is weg. Ik ben weer bij u. Waarmee kan ik helpen?',
  },
  backchannels: listed(
    'ja|jaja|ja hoor|jawel|jep|oké|oke|ok|okay|okee|goed|heel goed|prima|prima hoor|duidelijk|helder|begrepen|snap ik|ik snap het|ik begrijp het',
    'begrijp ik|precies|juist|klopt|dat klopt|natuurlijk|tuurlijk|uiteraard|zeker|zeker weten|mooi|fijn|top|super|leuk|inderdaad|in orde|akkoord|is goed',
    'dat is goed|oh ja|o ja|ach zo|aha|zo|nou ja|vanzelfsprekend|absoluut|exact|graag',
    'geen probleem|geen punt|niet slecht|maakt niet uit',
  ),
  nods: {
    core: spaced(
      'echt waar goed mooi leuk fijn prima geweldig fantastisch uitstekend schitterend prachtig heerlijk gaaf tof top super perfect interessant',
      'handig nuttig praktisch aardig vriendelijk logisch duidelijk helder begrijpelijk redelijk verstandig juist correct klopt precies exact',
      'inderdaad natuurlijk uiteraard zeker absoluut vanzelfsprekend vandaar snap begrijp begrepen weet oké oke okee ok okay ja jawel gelijk',
      'gelukkig goddank opluchting opgelucht serieus eerlijk ongelooflijk bizar grappig bijzonder verrassend wauw wow jee jeetje hemel hemeltje',
      'tjonge eens akkoord dacht klinkt lijkt blij gerust knap jammer aha mieters fascinerend opmerkelijk verbazend benieuwd schattig nieuw lief',
      'zoet triest spannend vervelend zonde eigenaardig raar vreemd helemaal volledig volkomen vermoedelijk waarschijnlijk verwacht vermoed attent',
      'slim slimme werkt verdrietig indruk verrast verbaasd ontroerd dankbaar tevreden overtuigd gevleid gehoord gemerkt gehoopt gedacht geloofd',
      'aangenomen prettig aangenaam elegant ontroerend bemoedigend veelbelovend verfrissend tragisch absurd krankzinnig gek waanzinnig opwindend',
      'solide doordacht sluw hoera joepie au bah jakkes foei hè oeps poeh pff hop ho tsja nou zeg sjonge sodeju verdorie potverdorie allemachtig',
      'keurig netjes hilarisch verbijsterend schokkend sneu vet cool kicken machtig magnifiek subliem fenomenaal sensationeel puik ongehoord',
      'ongekend hèhè eindelijk proficiat gefeliciteerd goh jeminee indrukwekkend meevaller tegenvaller',
    ),
    inflection: /e$/u,
    light: spaced(
      'bedankt dank oh o ah ach zo nou hè dat is het een ik u je heel erg hebt heeft heb daar in om te me mij er ook al dan nu weten horen zien hoor',
      'helemaal alles op die manier punt idee nieuws zit komt uit wel aan kijk van mijn god mee ben was nog vind',
      'meer beter',
      'bent zijn waren we wij ze hij zij jij jullie ons onze hun hem haar zou zouden had hadden geweest geworden onder met voor door over bij naar',
      'dit deze minder best behoorlijk tamelijk ontzettend enorm',
      'ding dingen gebaar plan keuze aanbod verhaal verrassing toeval oplossing',
    ),
    exclaiming: spaced('wat hoe'),
    inverting: spaced('waar is heb heeft hebt zit komt bent zijn'),
    wondering: listed(
      'oh echt|echt|echt waar|oh ja|o ja|ah ja|is dat zo|is dat waar|serieus|oh serieus|meent u dat|meen je dat|werkelijk|zeker weten',
    ),
    phrases: listed(
      'nou nou|hè hè|vanzelf|dat spreekt vanzelf|ik hoor het|mee eens|daar ben ik het mee eens|ben ik het mee eens|goed zo|wat een nieuws|tja|ach ja',
      'nee toch|je meent het|u meent het|dat wist ik niet|dat wist ik nog niet|wist ik niet|dat dacht ik al|ik dacht het al|dacht ik al|niet gek',
      'niet slecht|niet verkeerd|helemaal niet slecht|lang niet slecht|geen enkel probleem|geen probleem|komt goed|komt in orde',
      'ik snap wat u bedoelt|ik begrijp wat u bedoelt|ik weet wat u bedoelt|wat een opluchting|wat een geluk|wat een goed idee|kijk eens aan|te gek',
      'zonder meer|zo is het|zo zit het|zo zit dat|zo is dat|zo gaat dat|daar heeft u gelijk in|gelukkig maar|lieve hemel|mijn god|dat kan ik me voorstellen|kan ik me voorstellen',
      'dat verklaart het|dat verklaart veel|geen wonder|ik luister|ik ben er nog|ik volg u|ik volg het|vind ik leuk|wat een verrassing',
      'dat is nieuw voor mij|des te beter|mij best|wat mij betreft|wat leuk',
      'zoals ik dacht|zoals verwacht|dat is zonde|niet te geloven|dat had ik verwacht|dat vermoedde ik al|wie had dat gedacht|daar kan ik me in vinden',
      'ik ben onder de indruk|onder de indruk|is goed|is prima|is oké|is ok|is duidelijk|is mooi|is fijn|is super|zit goed',
      'geen idee van gehad|had ik geen idee van|daar had ik geen idee van|daar kan ik inkomen|kan ik inkomen|dat zal toch niet|het zal toch niet',
      'het zal wel|dat zal wel|wat zeg je me nou|dat meen je niet|dat meent u niet|je gelooft het niet|ik geloof het niet|ik geloof mijn oren niet',
      'wie had dat kunnen denken|wie had dat nou gedacht|vertel mij wat|wat je zegt|zeg dat wel|dat mag je wel zeggen|zo is het leven',
      'niks aan te doen|niets aan te doen|het is wat|het is me wat|dat is me wat|ik ken dat|dat ken ik|weet ik|dat weet ik|ik weet er alles van',
      'dat had ik niet gedacht|had ik niet gedacht|dat had ik niet verwacht|had ik niet verwacht|niet mis|niet mals|niet onaardig|lang niet gek',
      'kan gebeuren|dat kan gebeuren|het werd tijd|werd tijd|dat is waar ook|nu snap ik het|nu begrijp ik het|ik zie het|als u het zegt|toe maar',
      'asjemenou|krijg nou wat|krijg nou tieten|echt waar joh|ja joh|nee joh|joh|fijn zo|arme schat|arme ziel|ach gut|och|och arme|ocharm',
      'wat vreselijk|wat verschrikkelijk|wat erg|wat slecht',
      'mijn hemel|mijn lieve hemel|ach gossie|ach arme',
    ),
    shapes: listed(
      "wat *|wat een …|zo'n *|wat zijn dat *|da's *|da's wel *|dat is wel *|dat is echt *|dat is best *|dat is erg *|dat is heel *|dat is zo *",
      "dat is ook *|dat is toch *|dat klinkt *|klinkt *|nou da's *|arme *|lieve *|dat lijkt me *|lijkt me *|dat verklaart *|verklaart *|on*lijk",
      'dat zal *|dat zal wel *|mooie *|leuke *|prachtige *|wauw …|wow …|jeetje …|jee …|tjonge …|jemig …|sjonge …|hemel …|goh …|zo hé …|allemachtig …',
      'tjee …|poeh …|dat is veel|*wekkend|dat is *wekkend',
    ),
    telling: spaced(
      'kost kosten zegt zei bedoelt bedoel bedoelde is was doe doet moet kan kun kunt wil wilt heb heeft hebt heet betekent nu voor dan dat die dit',
      'de het een ik u je jij hij zij we wij jullie ze over met zonder in op aan van naar bij om tot *er langzaam hard te niet niets geen nooit nee',
      'fout foutje verkeerd verkeerde onjuist kapot dicht weg laat vroeg ver lang groot oud hoog weinig veel genoeg mis vergissing misverstand',
      'probleem vraag nummer ander andere anders gratis dringend mogelijk onmogelijk maandag dinsdag woensdag donderdag vrijdag zaterdag zondag',
      'morgen vandaag gisteren straks later eerst volgende mijne mij klopt wordt gaat staat werkt hoeft maar en of als want ja even adres naam',
      'rekening bestelling man vrouw moeder vader zoon dochter pakket auto email vreselijk verschrikkelijk slecht duur',
      'formulier contract verzekering bedrijf kaart factuur link code wachtwoord tarief bank filiaal',
      'onduidelijk',
    ),
  },
  goodbyes: listed(
    'dag|doei|doeg|tot ziens|tot horens|tot straks|tot gauw|tot later|dank u|dank u wel|dankjewel|dank je wel|dank je|bedankt|hartelijk dank|heel erg bedankt',
    'fijne dag|fijne dag nog|prettige dag|prettige dag nog|goedendag|goedenavond|goede nacht|insgelijks|hetzelfde|u ook|jij ook|van hetzelfde|merci|bye|ciao|groetjes',
  ),
  urgent: spaced(
    'nee neen niet stop wacht wachten ho halt wat wie wanneer waar waarom hoe welke welk hoeveel sorry pardon moment',
  ),
  hesitations: spaced(
    'eh ehm uh uhm euh hm hmm en of maar want omdat als toen terwijl de een der den mijn onze zijn haar',
    'voor van met zonder tussen tot naar bij uit in op aan om door over onder na vanaf te dus heel erg zeg',
  ),
  doubtful: spaced(
    'dan zo die dat het dit deze ook nog even eigenlijk misschien ongeveer ik wij we u er is was ben niet wel nou gewoon uw',
  ),
  leadingEnd: undefined,
  begun: listed(
    'ik wil|ik wou|ik zou|ik zou graag|ik heb|ik ben|ik zoek|ik heet|mijn naam is|mijn nummer is|het nummer is|het punt is dat|het probleem is dat|het zit zo|ik wil graag|wij willen|we willen|ik moet|ik bel',
    'kunt u|kan u|kun je|zou u|zou je|heeft u|mag ik|kan ik|zou ik|ik denk|ik bedoel|dat wil zeggen|ik denk dat',
    'aan de andere kant|aan de ene kant|ten eerste|bijvoorbeeld|eerlijk gezegd|met andere woorden|in mijn geval|indien mogelijk|het probleem is|de vraag is|mijn adres is|wat betreft',
  ),
  openings: listed(
    'nou|nou ja|kijk|tja|dus|eigenlijk|zeg maar|weet u|weet je|luister|laten we zeggen',
    'goed dus|en|maar|het|de|ik heet|mijn naam is|mijn nummer is|het nummer is',
  ),
  shortQuestions: listed(
    'tot wanneer|tot hoe laat|vanaf wanneer|sinds wanneer|hoe laat|met wie|voor wie|waar naartoe|waarheen|waarvandaan|waarom niet|wat nog meer|wie nog meer',
  ),
  thinking: listed(
    'even kijken|even kijken hoor|eens kijken|laat me even kijken|laat me kijken|laat me eens kijken|laat me zien|even denken|even nadenken|laat me even denken|laat me nadenken|laat me even nadenken|ik moet even kijken|ik moet even zoeken|ik moet even nadenken|ik moet het even opzoeken',
    'ik ga even kijken|ik kijk even|ik kijk even na|ik zoek even|ik zoek het even op|ik zoek het op|ik ben aan het zoeken|ik denk even na|moment|momentje|een moment|een momentje|één moment|een ogenblik|ogenblik|ogenblikje|een ogenblikje|een seconde|een secondje|één seconde|eventjes|een minuutje',
    'een minuut|wacht|wacht even|wacht eens|wacht eens even|wacht u even|wacht een moment|geef me even|geef me een momentje|geef me een seconde|hoe zeg je dat|hoe heet dat|goede vraag|dat is een goede vraag|blijf aan de lijn',
    'hoe zal ik het zeggen|hoe moet ik het zeggen|even zoeken|even opzoeken|laat me even zoeken|even nakijken|ik moet het even nakijken|momentje hoor|momentje alstublieft|een moment alstublieft|een ogenblik alstublieft|wacht even hoor',
    'ik ben zo terug|ik ben zo weer terug',
  ),
  askingForTime: {
    moments: spaced(
      'seconden minuten moment momentje ogenblik ogenblikje seconde secondje secondes minuut minuutje minuutjes geduld lijn wachten',
    ),
    granting: spaced(
      'een één twee klein kleine even nog geef me mij heeft hebt u je kunt kan wacht blijf blijven aan de hebben',
    ),
    own: listed(
      'ik moet|ik pak|ik zoek|ik kijk|ik haal|ik vraag|ik open|ik ga|ik ben|ik check|ik log|dat moet ik|die moet ik|daar moet ik|moet ik|laat me',
      'laat mij',
      'ik loop|ik zet|ik start|ik breng',
    ),
    looks: spaced(
      'zoeken zoek kijken kijk nakijken opzoeken checken check controleren controleer vinden nagaan',
    ),
    takes: spaced(
      'pakken pak halen haal vragen vraag openen open openmaken inloggen log navragen',
      'loop lopen zet zetten start starten aanzetten opstarten',
    ),
    things: spaced(
      'kaart pas bril pen potlood papier paspoort portemonnee brief mail e-mail email app rijbewijs identiteitskaart papieren document documenten rekening',
      'factuur agenda kalender notities map envelop vrouw man baas collega moeder vader zoon dochter partner scherm bonnetje',
      'bureau computer laptop boven beneden la luidspreker speaker lade',
    ),
    after: spaced('even snel eerst nog het dat die aan op erbij dit daar nu bij', 'mijn naar u de'),
  },
  corrections: listed(
    'nee sorry|sorry nee|nee wacht|nee ik bedoel|ik bedoel|ik bedoelde|nee pardon|of eigenlijk|nee eigenlijk|of beter gezegd|beter gezegd|oh nee|o nee|nee nee',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`nummer|cijfer|kenmerk|referentie|postcode|\bcode\b|\bspel(?:len|t)?\b|letter voor letter|kenteken|wachtwoord|e-?mail|mailadres|\b(?:pin|iban|bsn)\b|pincode`,
    spelled: String.raw`\bspel(?:len|t)?\b|letter voor letter`,
    counted: 'cijferige?|cijfers|tekens|letters|nummers',
    values: spaced(
      'nul een/één/eén twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien',
      'twintig eenentwintig tweeëntwintig/tweeentwintig drieëntwintig/drieentwintig vierentwintig vijfentwintig zesentwintig zevenentwintig achtentwintig negenentwintig dertig',
    ),
    digits: [],
    tens: spaced('veertig vijftig zestig zeventig tachtig negentig'),
    pairs,
    double: spaced('dubbel dubbele tweemaal'),
    triple: spaced('driemaal driedubbel'),
    between: spaced('en dan streepje min punt spatie eh ehm uh koppelteken'),
    mailAsked: 'e-?mail|mailadres',
    joints: spaced('punt streepje underscore koppelteken dot'),
    ats: spaced('at apenstaartje apestaartje apenstaart'),
  },
  sentences: {
    abbreviations: spaced(
      'dhr mevr mw dr drs ir ing mr prof st nr bijv bv o.a m.b.t enz evt ca tel blz vs art',
    ),
    lastAbbreviations: spaced('enz'),
    openers: spaced(
      'ik jij u hij zij wij we jullie het de een dat dit er wilt kunt heeft mag als maar en bedankt',
    ),
    leadsOn: spaced(
      'de het een der den en of maar want dat als omdat van voor met in op aan bij naar uit om te door over tot ik u hij zij wij we is zijn was wordt kan zal',
      'mijn uw onze haar niet heel erg meer',
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'ja|jawel|jazeker|ja hoor|jep|graag|oké|oke|okee|ok|okay|goed|is goed|dat is goed|prima|natuurlijk|tuurlijk|uiteraard|zeker|zeker weten|klopt|dat klopt|correct',
      'juist|precies|akkoord|in orde|absoluut|inderdaad|doe maar|doet u maar|doe het maar|doe dat maar|doet u het maar|doet u dat maar|doe dat|doet u dat|gaat u maar verder|gaat u maar|ga maar|boekt u maar|reserveert u maar|ga uw gang|ga je gang|bevestigd|ik bevestig|vanzelfsprekend',
    ),
    no: listed(
      'nee|neen|niet|nooit|geen|niks|niets|stop|halt|wacht|wachten|annuleer|annuleren|fout|onjuist|laat maar|vergeet het|nimmer|moment|een ogenblik',
      'natuurlijk niet|zeker niet|absoluut niet|uiteraard niet|vanzelfsprekend niet|natuurlijk nee',
    ),
    firmYes: listed('ja|jawel|jazeker|natuurlijk|uiteraard|zeker|absoluut'),
    // "Boekt u de tafel", or "graag boeken".
    order: new RegExp(
      `^(?:${orders})(?: |$)|^\\p{L}+t u(?: |$)|^\\p{L}+en$|^(?:de|het) \\p{L}+ \\p{L}+en$`,
      'u',
    ),
    told: undefined,
    accepts: listed(
      'dat zou fijn zijn|dat zou mooi zijn|dat zou geweldig zijn|dat zou leuk zijn|dat zou heel fijn zijn|dat is fijn|dat is prima|dat is in orde|dat is correct|dat is juist',
      'lijkt me goed|lijkt me prima|dat lijkt me goed|dat lijkt me prima|dat lijkt me een goed idee|klinkt goed|dat klinkt goed|goed idee|heel graag|zeer graag|wat mij betreft wel',
      'dat zou ik graag willen|ik zou dat graag willen|dat zou ik wel willen|dat wil ik wel|dat zou ik fijn vinden|dat wil ik graag|dat wil ik|ik wil dat|ik wil het graag|ik ga akkoord|ik ben akkoord|ik ben het ermee eens|ik stem toe|ik weet het zeker|met plezier|met genoegen',
      'dat mag|dat mag u doen|dat kunt u doen|u mag|mag u doen|als u wilt|als u dat wilt doen|als u zo vriendelijk wilt zijn|ga verder|gaat u verder|doen we|laten we dat doen',
    ),
    wishes: listed('ik wil graag|ik zou graag willen|ik wil|graag zou ik'),
    courtesies: listed(
      'voor mij|voor ons|meteen|bedankt voor uw hulp|dank u voor uw hulp|oh|ah|hm|hmm|eh|ehm|uh|uhm|nou|super',
      'alstublieft|alsjeblieft|graag|dank u|dank u wel|dankuwel|dank je|dank je wel|dankjewel|bedankt|hartelijk dank|heel erg bedankt|meneer|mevrouw',
      'fijn|mooi|top|geweldig|perfect|uitstekend|heel fijn|heel mooi|heel vriendelijk|wat aardig|leuk|goed|heel goed|hoor',
    ),
    light: spaced('het dat dit ik dan is zo eens doe die hoor wel'),
    tellers: spaced('ik we wij hij zij mijn onze mij'),
    openers: spaced('een voor om in op met van naar aan en ook bij'),
    hedges: spaced(
      'maar als indien misschien wellicht denk geloof vermoed of tenzij behalve liever eerst alleen later anders andere ander eigenlijk waarschijnlijk',
      'wat hoe welke welk wanneer waarom wie waar hoeveel kan kunt kunnen zou zal weet begrijp snap zie vraag vragen hallo nog hier heet hoop hoewel voordat nadat mits kijken herhaal herhalen uitleggen vertel vertellen minuut',
    ),
    details: spaced(
      'twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig half halve beide vandaag morgen overmorgen vanavond ochtend middag avond nacht',
      'week maand volgende uur maandag dinsdag woensdag donderdag vrijdag zaterdag zondag personen mensen ook',
    ),
    noRefusal: listed(
      'geen probleem|geen punt|geen zorgen|waarom niet|geen bezwaar|maakt niet uit|als u het niet erg vindt|vind ik niet erg|geen enkel probleem',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|annul|afzeg|opzeg)/u,
        said: listed(
          'annuleer|annuleren|annuleert|annuleert u|afzeggen|opzeggen|cancel|cancelen|zeg af|zegt u af',
        ),
        clear: listed(
          'annuleer het|annuleer hem|annuleer deze|annuleer maar|annuleert u het|annuleert u maar|annuleert u het maar|graag annuleren|annuleren alstublieft|annuleer alstublieft|annuleer alsjeblieft|zeg het af|zeg het maar af|zegt u het af|zegt u het maar af',
        ),
      },
      {
        tool: /(?:^| )(?:stop|pauz)/u,
        said: listed('stop|stoppen|stopt u|pauzeer|pauzeren'),
        clear: listed('stop het maar|stopt u het maar|pauzeer het'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|verwijder|wis(?:sen)?(?: |$))/u,
        said: listed('verwijder|verwijderen|verwijdert u|wis|wissen'),
        clear: listed(
          'verwijder het|verwijder hem|verwijder maar|verwijdert u het|verwijdert u het maar|wis het|wis het maar',
        ),
      },
    ],
  },
};
