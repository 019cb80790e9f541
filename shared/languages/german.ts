import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'buch|buche|reservier|reserviere|schick|schicke|sende|bezahl|bezahle|überweis|überweise|bestell|bestelle|leg|lege|trag|trage|nimm|ruf|rufe|mach|mache|fahr|starte|speichere|lösche';

/** "Einundzwanzig" to "neunundneunzig". */
const pairs = spaced('zwanzig dreißig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig').flatMap(
  (ten) => spaced('ein zwei drei vier fünf sechs sieben acht neun').map((one) => `${one}und${ten}`),
);

export const german: Language = {
  code: 'de',
  name: 'German',
  lines: {
    fillers: [
      'Einen Moment bitte.',
      'Ich sehe gleich nach.',
      'Einen Augenblick noch.',
      'Ich bin gleich so weit.',
    ],
    apology: 'Entschuldigung, da ist bei mir etwas schiefgegangen. Können Sie das bitte wiederholen?',
    misheard: 'Entschuldigung, das habe ich nicht verstanden. Können Sie das bitte wiederholen?',
    farewell: 'Auf Wiederhören.',
    hold: 'Es klappt leider noch nicht. Bitte bleiben Sie dran.',
    back: 'Danke, dass Sie gewartet haben.',
    unheardNote: '[Der Anrufer hat Ihre Antwort nicht gehört. Geben Sie sie jetzt.]',
    announcement: '',
    idleQuestion: 'Sind Sie noch da?',
    confirmQuestion: 'Soll ich das so machen?',
    keysNote: '[Der Anrufer hat diese Tasten gedrückt: {digits}]',
    returnLine: 'Leider konnte niemand Ihren Anruf annehmen. Wie kann ich Ihnen sonst helfen?',
    operatorLost:
      'Entschuldigung, die Verbindung zu meinem Kollegen ist abgebrochen. Ich bin wieder für Sie da. Wie kann ich helfen?',
  },
  backchannels: listed(
    'ja|jo|jep|jup|jawohl|okay|ok|genau|klar|alles klar|na klar|verstehe|ich verstehe|verstanden|gut|sehr gut|richtig',
    'stimmt|ach so|achso|natürlich|sicher|in ordnung|passt|super|prima|eben|gerne|jaja|na gut',
    'kein problem|nicht schlecht',
  ),
  nods: {
    core: spaced(
      'wow wirklich gut gute guter interessant schön toll super prima klasse wunderbar großartig fantastisch genial spitze ausgezeichnet',
      'hervorragend herrlich perfekt nett hilfreich nützlich praktisch wahr richtig stimmt ok okay klar sicher natürlich logisch vernünftig',
      'verständlich sinnvoll sinn echt ehrlich krass wahnsinn unglaublich erstaunlich beeindruckend beruhigend erfreulich spannend lustig witzig',
      'komisch freut freue froh glücklich weiß verstehe verstanden kapiert begriffen einleuchtend leuchtet klingt passt recht genau exakt absolut',
      'völlig definitiv selbstverständlich tatsächlich offensichtlich eben ja jo jawohl gern dachte gedacht einverstanden glück gott güte himmel oje',
      'donnerwetter mensch aha erleichtert beruhigt okidoki gespannt gewiss schade angenehm wundervoll faszinierend bemerkenswert verblüffend',
      'überraschend herrje notiert oha ui uff puh hoppla ohje irre hammer bestens tadellos freundlich lieb süß traurig blöd doof ärgerlich bequem',
      'großzügig aufmerksam bedauerlich rührend köstlich amüsant ungewöhnlich seltsam merkwürdig komplett vollkommen total durchaus vermutlich',
      'glaube ahnte geahnt vermutet erwartet fair aufregend clever klug schlau durchdacht gelungen stark cool hübsch niedlich beeindruckt überrascht',
      'begeistert gerührt dankbar zufrieden überzeugt entzückt verblüfft erstaunt gehört gemerkt geglaubt gehofft angenommen bekannt neuigkeiten',
      'überraschung freude erleichterung tragisch unheimlich bewegend ermutigend erfrischend bezaubernd charmant elegant absurd verrückt irrsinnig',
      'heftig allerhand kurios wirksam pfiffig raffiniert solide ordentlich vorbildlich hurra juhu hui au autsch ach huch hach igitt bäh pfui ups',
      'hossa holla mannomann menno tja naja unfassbar unvorstellbar kolossal phänomenal sensationell famos traumhaft bombe geil krank abgefahren',
      'prächtig mega bravo glückwunsch gratuliere',
    ),
    inflection: /(?:e|er|es|en|em)$/u,
    light: spaced(
      'danke ach oh ah na das ist es ich sie du da so sehr auch mir mich ihnen zu ein eine einen in ordnung der tat dann ganz hören höre hört man',
      'wissen haben hast hat war wäre macht ergibt schon je meine punkt idee jetzt auf jeden fall also bin hab bei sei alles immer doch genauso',
      'sogar ziemlich wohl sind nun mal nur schließlich',
      'wieder mehr besser noch',
      'aber bereits geht gehen etwas dem den des er wir uns euch ihr mein dein sein hatte hätte würde wurde worden bisher unheimlich enorm extrem',
      'wahnsinnig dich sich dass viel vom von zum mit für um nach über unter damit davon dafür darüber daran',
      'sache sachen ding dinge geste plan wahl angebot geschichte zufall service detail aussicht lösung',
    ),
    exclaiming: spaced('wie'),
    inverting: spaced('ist war hat hast haben geht bin sind wurde'),
    wondering: listed(
      'ach wirklich|wirklich|echt|ach echt|echt jetzt|ist das so|ach ja|ach ja wirklich|nicht wahr|tatsächlich|ach tatsächlich|im ernst|ernsthaft',
      'ehrlich|ach so|ach so ja|so',
    ),
    phrases: listed(
      'na dann|na dann gut|ach je|oh je|stimmt auch wieder|auch wieder wahr|dank ihnen|vielen dank|ach nee|na so was|sag bloß|sagen sie bloß',
      'was sie nicht sagen|das wusste ich nicht|das wusste ich gar nicht|wusste ich nicht|wusste ich gar nicht|nicht schlecht|gar nicht schlecht',
      'nicht übel|gar nicht übel|kann ich verstehen|kann ich gut verstehen|das kann ich verstehen|sehe ich auch so|sehe ich genauso|ich sehe schon',
      'gott sei dank|zum glück|na klar|na bitte|na also|dachte ich mir|habe ich mir gedacht|hab ich mir gedacht|ach du meine güte|ach du lieber',
      'ach du liebe güte|oh mein gott|mein gott|leuchtet ein|was für ein glück|was für eine erleichterung|kein thema|überhaupt kein problem',
      'gar kein problem|kann ich mir vorstellen|das kann ich mir vorstellen|das erklärt es|das erklärt einiges|kein wunder|ich höre|ich höre zu',
      'ich bin noch dran|bin noch da|gefällt mir|das gefällt mir|was für eine überraschung|das ist mir neu|habe ich verstanden|habe verstanden',
      'alles verstanden|soweit klar|so weit klar|von mir aus|soll mir recht sein|ach komm',
      'soso|ach was|das hilft|das hilft mir|hilft mir|das hilft mir sehr|das hilft mir weiter|ach du liebe zeit|du liebe zeit|ach du lieber himmel',
      'du lieber himmel|meine güte|ach du lieber gott|sieh an|sieh mal an|schau an|schau mal an|na sowas|ach nein|das dachte ich mir|das habe ich mir gedacht',
      'das hab ich mir gedacht|jetzt verstehe ich|jetzt wird mir einiges klar|na gut|na endlich|geht klar|ist notiert|schon notiert|das ist notiert',
      'mein lieber mann|ach herrje|ach schade|wie schade|so ist das|so ist es|so ist das also|recht so|gut so|freut mich|freut mich zu hören',
      'ich erinnere mich|jetzt erinnere ich mich|hatte ich vermutet|das wundert mich nicht|das lobe ich mir|das lass ich mir gefallen|wer hätte das gedacht',
      'respekt|alle achtung',
      "ist gut|ist ja gut|ist ja toll|ist ja super|ist ja klar|ist klar|ist okay|ist recht|nicht zu fassen|kaum zu glauben|nicht zu glauben|das gibt's nicht|das gibt es nicht|gibt's ja nicht|das glaube ich|glaube ich gern|kann man nichts machen|hab ich mir fast gedacht",
      'mir fällt ein stein vom herzen|da fällt mir ein stein vom herzen|das ist ja allerhand|das ist ja ein ding|ein ding|ach so ist das|ach so ist es|ach so war das|bin ich froh|bin ich beruhigt|bin ich erleichtert|hatte ich vergessen|hatte ich ganz vergessen|das hatte ich vergessen|das hatte ich ganz vergessen',
      'das hätte ich nicht gedacht|hätte ich nicht gedacht|das hätte ich nie gedacht|hätte ich nie gedacht|das hätte ich nicht erwartet',
      'das kenne ich|kenne ich|das kenn ich|kenn ich|kennt man|die arme|der arme|die armen|sie arme|sie ärmste|der ärmste|die ärmste|sag ich auch',
      'das sag ich auch|das sag ich auch immer|sag ich ja|sage ich doch|mein reden|meine rede|oh mann|oh mann oh mann|wem sagen sie das',
      "wem sagst du das|gut zu wissen|dachte ich's mir|wie sie meinen|man lernt nie aus|so ist das leben|das darf nicht wahr sein",
      'darf doch nicht wahr sein|da haben sie recht|recht haben sie|gut möglich|das kann sein|kann sein|schon möglich|das tut mir leid für sie',
      "nichts zu machen|du heiliger strohsack|ich fass es nicht|ich fasse es nicht|ich glaub's nicht|ich werd verrückt",
      'wie furchtbar|wie schrecklich|wie schlimm',
    ),
    shapes: listed(
      'was für ein *|was für eine *|was für einen *|so ein *|so eine *|so einen *|wie *|na *|ach du *|ach du * *|du * güte|ach * gott|oh *',
      'das ist ja *|das ist ja * *|ist ja *|ist ja * *|das ist echt *|das ist wirklich *|das ist so *|das ist sehr *|das ist ganz schön *',
      'ganz schön *|das wär ja *|das wäre ja *|das war ja *|das klingt *|klingt *|klingt ja *|das hört sich * an|hört sich * an|hört sich ja * an',
      'bin ich aber *|da bin ich aber *|das sind ja *|tolle *|toller *|tolles *|schöne *|schöner *|schönes *|super *|klasse *|wow …|boah …|mensch …',
      'mann …|donnerwetter …|meine güte …|du meine güte …|au *|herrje …|gott …|puh …|na sowas …|ui …|un*bar|ach *|ganz schön …|ach so ein *',
    ),
    telling: spaced(
      'lange lang viel viele oft weit groß alt hoch spät schnell früh teuer breit schwer kurz bitte heißt heißen heiße geht gehts war ist sind',
      'meinen meinst schreibt schreibe komme kommt kann könnte soll sollte sieht siehts funktioniert wäre denn ich sie er es wir ihr die der das den',
      'dem du man nicht nichts kein keine keinen nie falsch verkehrt kaputt weg zu zuviel wenig meins meine mein seins unmöglich verboten gestern',
      'heute morgen übermorgen montag dienstag mittwoch donnerstag freitag samstag sonntag erst später jetzt gleich nochmal noch anders andere',
      'anderer anderes genug fehler irrtum problem missverständnis ungültig abgelaufen storniert bezahlt geschlossen kostenlos dringend möglich zwei',
      'drei ein eine einen aber und oder wenn weil dass doch mit ohne für auf in im am um bei nach von bis sagen sagten wird werden wurde muss',
      'müssen hab habe haben hat will würde brauche auto tag termin zimmer nummer preis doof blöd furchtbar schrecklich schlimm schlecht unverschämt',
      'formular vertrag versicherung firma konto karte rechnung link code passwort tarif ausweis gebühr frist bank filiale vorgang modell marke',
      'angebot beleg dokument unterlagen zahlung sicher bezahle zahle mache unlesbar unbrauchbar unauffindbar unerreichbar unbezahlbar',
      'wichtig eilig',
    ),
  },
  goodbyes: listed(
    'tschüss|tschau|ciao|bye|bye bye|danke|danke schön|vielen dank|dankeschön|merci|danke ihnen auch|ihnen auch|bis dann|bis bald',
    'auf wiedersehen|auf wiederhören|schönen tag noch|gleichfalls|ebenfalls|einen schönen tag|gute nacht',
  ),
  urgent: spaced(
    'nein nee nö nicht halt stopp stop warte warten was wer wann wo warum wieso wie welche moment sorry pardon',
  ),
  hesitations: spaced(
    'lautet äh ähm öh öhm hm hmm und oder aber weil dass ob wenn sondern der dem den des eine einen einem einer eines',
    'mein meine meinen meinem meiner unser unsere unseren für von vom zum zur beim zwischen ohne bis im am ins ans also',
  ),
  // Behind a verb many of them are the second part of it: "rufen Sie mich an".
  doubtful: spaced(
    'die das so dann denn zu auf in an um mit bei aus nach über unter ein es sie ich wir ihr ihre da noch halt eigentlich vielleicht',
    'ungefähr etwa sehr ziemlich wie als',
  ),
  leadingEnd: undefined,
  begun: listed(
    'ich möchte|ich würde|ich hätte|ich brauche|ich will|ich wollte|ich suche|ich habe|ich bin|ich heiße|mein name ist|wir möchten|wir brauchen',
    'können sie|könnten sie|haben sie|würden sie|kannst du|könntest du|kann ich|könnte ich|ich glaube|ich meine|das heißt',
    'andererseits|einerseits|irgendwie|zum einen|zum anderen|zum beispiel|ehrlich gesagt|mit anderen worten|soweit ich weiß|in meinem fall|wenn möglich|je nach|das problem ist|die frage ist|der grund ist|könnte ich bitte|könnten sie bitte|kann ich bitte|dürfte ich bitte|möglich ist würde',
  ),
  openings: listed(
    'also|ja also|nun|nun ja|na ja|naja|tja|so|na|und|aber|sagen wir|sagen wir mal',
    'sozusagen|eigentlich|wissen sie|weißt du|schauen sie|hören sie|ich heiße|mein name ist|ich bin der|ich bin die|meine nummer ist',
  ),
  shortQuestions: listed(
    'bis wann|ab wann|seit wann|von wann bis wann|um wie viel uhr|um wieviel uhr|bis wie viel uhr|für wen|mit wem|von wem|wo denn|wann denn|warum denn|wer denn|was denn|wieso denn|wie lange denn|warum nicht|wer noch|was noch|wofür|wozu|woher|wohin',
  ),
  thinking: listed(
    'mal sehen|mal schauen|mal gucken|mal überlegen|schauen wir mal|sehen wir mal|lass mich überlegen|lassen sie mich überlegen|lass mich nachdenken|lassen sie mich nachdenken|lassen sie mich sehen|lass mich sehen|lassen sie mich schauen',
    'lassen sie mich kurz nachsehen|lassen sie mich mal sehen|lassen sie mich kurz überlegen|lass mal sehen|lass mal schauen|moment|einen moment|moment mal|einen moment bitte|moment bitte|kleinen moment|kleinen moment bitte|einen augenblick|augenblick|einen augenblick bitte|augenblick bitte',
    'sekunde|eine sekunde|kurze sekunde|eine minute|warte|warten sie|warte mal|warten sie mal|warten sie bitte|warte kurz|warten sie kurz|ich muss nachsehen|ich muss kurz nachsehen|ich muss nachschauen|ich muss mal nachschauen|ich muss mal schauen|ich muss erst suchen',
    'ich muss überlegen|ich muss kurz überlegen|ich muss mal überlegen|ich schaue nach|ich schau mal|ich schaue mal|ich schau kurz|ich gucke mal|ich guck mal|ich sehe nach|ich überlege|ich überlege gerade|ich suche gerade|wie sage ich das|gute frage|das ist eine gute frage',
    'wie soll ich sagen|wie soll ich das sagen|lass mich mal überlegen|lassen sie mich mal überlegen|mal kurz überlegen|mal nachdenken|ich überlege mal|ich guck kurz|sekunde bitte',
    'lass mich kurz überlegen|lassen sie mich nachsehen|lassen sie mich kurz schauen|da muss ich nachschauen|da muss ich kurz nachschauen',
    'da muss ich überlegen|gleich hab ichs|gleich habe ich es',
    "ich habs gleich|ich hab's gleich|ich habe es gleich|moment ich hole sie|moment ich hole die karte|ich hole sie kurz|ich hole kurz die karte",
    'wo hab ich sie denn|wo habe ich es denn|bleiben sie dran|geben sie mir eine sekunde|geben sie mir einen moment|ich brauche einen moment',
    'ich brauche kurz|es liegt mir auf der zunge',
    'bin gleich wieder da|ich bin gleich wieder da|ich bin sofort wieder da',
  ),
  askingForTime: {
    moments: spaced(
      'moment momentchen augenblick sekunde sekunden sekündchen minute minuten minütchen geduld dranbleiben warten',
    ),
    granting: spaced(
      'ein eine einen zwei paar kurze kurzen kleine kleinen kleiner halbe noch nur kurz mal haben sie geben gib mir können könnten kannst du etwas bitte',
      'brauche ich würden',
      'klitzekleinen klitzekleine winzigen ganz',
    ),
    own: listed(
      'ich muss|ich hole|ich hol|ich suche|ich such|ich schaue|ich schau|ich gucke|ich guck|ich frage|ich frag|ich mache|ich mach|ich öffne',
      'ich prüfe|ich sehe|ich logge|ich gehe|ich geh|ich bin|ich krame|da muss ich|das muss ich|den muss ich|die muss ich|muss ich|lassen sie mich',
      'lass mich|bis ich',
      'ich geh mal|ich lauf|ich laufe|ich stell|ich stelle|ich starte|ich schalte',
    ),
    looks: spaced(
      'suche suchen such finden finde nachschauen nachsehen nachgucken nachlesen schaue schau schauen gucken gucke guck prüfen prüfe überprüfen checken',
      'nachfragen raussuchen heraussuchen nachschlagen',
    ),
    takes: spaced(
      'hole holen hol öffnen öffne aufmachen mache mach fragen frage frag greifen rausholen herausholen rauskramen kramen krame einloggen anmelden logge',
      'geh gehe gehen lauf laufe laufen stell stelle starte starten hochfahren einschalten anmachen anschalten',
    ),
    things: spaced(
      'karte brille stift kuli zettel papier ausweis pass reisepass personalausweis geldbeutel portemonnaie geldbörse brief mail e-mail app unterlagen',
      'dokumente dokument rechnung beleg kalender terminkalender notizen ordner umschlag führerschein frau mann chef chefin kollegin kollegen mutter vater',
      'sohn tochter freundin freund partner partnerin bildschirm',
      'schreibtisch rechner computer laptop schublade lautsprecher laut hoch runter oben unten keller',
    ),
    after: spaced(
      'kurz schnell mal eben gerade noch erst das es sie ihn da auf raus heraus mir dafür nach',
      'den der die an ans',
    ),
  },
  corrections: listed(
    'nein entschuldigung|entschuldigung nein|nein moment|nein warte|nein ich meine|ich meine|ich meinte|entschuldigung ich meine|ach nein|nein doch|quatsch|nein quatsch|beziehungsweise|nein sorry|vielmehr|nee sorry',
  ),
  isLearned: true,
  numbers: {
    asked: String.raw`nummer|ziffer|stellig|postleitzahl|\bplz\b|buchstabier|kennzeichen|code\b|referenz|\b(?:pin|iban)\b|e-?mail`,
    spelled: String.raw`buchstabier|spell`,
    counted: 'stellige?[nrs]?|stellen|ziffern|zeichen|buchstaben',
    values: spaced(
      'null eins/ein zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
      'zwanzig einundzwanzig zweiundzwanzig dreiundzwanzig vierundzwanzig fünfundzwanzig sechsundzwanzig siebenundzwanzig achtundzwanzig neunundzwanzig dreißig/dreissig',
    ),
    digits: [],
    tens: spaced('vierzig fünfzig sechzig siebzig achtzig neunzig'),
    pairs,
    double: spaced('doppel doppelt zweimal'),
    triple: spaced('dreifach dreimal'),
    between: spaced('und dann strich bindestrich minus punkt äh ähm hm leerzeichen'),
    mailAsked: 'e-?mail|mailadresse',
    joints: spaced('punkt unterstrich bindestrich minus strich dot'),
    ats: spaced('at ät et klammeraffe'),
  },
  sentences: {
    abbreviations: spaced(
      'dr prof st nr bzw ca hr fr str tel inkl exkl ggf evtl usw etc vs jr dipl ing min max mind std abs abt bspw sog zzgl vgl med jur phil jan feb aug sept okt nov dez',
    ),
    lastAbbreviations: spaced('etc usw jr'),
    openers: spaced('ich er sie es wir ihr möchten haben können soll bitte wenn das die der'),
    leadsOn: spaced(
      'der die das den dem des ein eine einen einem einer und oder aber dass weil wenn zu von mit für auf in im an am',
      'ich sie wir er es ist sind war wird werden kann nicht sehr',
    ),
    beforeOrdinal: spaced('am der den dem des die das zum zur vom im ab bis'),
    afterOrdinal: spaced('Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez'),
  },
  answers: {
    yes: listed(
      'ja|jawohl|jo|gerne|gern|okay|ok|klar|na klar|natürlich|sicher|genau|richtig|stimmt|korrekt',
      'einverstanden|in ordnung|alles klar|passt|auf jeden fall|machen sie das|mach das|ich bestätige',
      'bestätigt',
    ),
    no: listed(
      'nein|nee|nö|nicht|nie|niemals|kein|keine|keinen|stopp|stop|halt|abbrechen|warte|warten|moment',
      'falsch|lassen sie|lass|vergiss es|vergessen sie',
      'natürlich nicht|sicher nicht|bestimmt nicht|gewiss nicht|klar nicht|selbstverständlich nicht|natürlich nein',
    ),
    firmYes: listed('ja|jawohl|natürlich|auf jeden fall'),
    // "Buchen Sie den Tisch", or "bitte buchen".
    order: new RegExp(`^(?:${orders})(?: |$)|^\\p{L}+(?:en|ern|eln)(?: sie(?: |$)|$)`, 'u'),
    told: undefined,
    accepts: listed(
      'das wäre sehr nett|das wäre sehr schön|das wäre sehr gut|das wäre sehr lieb|das wäre wirklich nett|das wäre wunderbar|genau so|so ist es|das ist korrekt',
      'das ist genau was ich will|ich bin dafür|gern geschehen|auf alle fälle|selbstverständlich|unbedingt',
      'das möchte ich|ich möchte das|möchte ich gern|möchte ich gerne|das möchte ich gern|das möchte ich gerne|das hätte ich gern|das hätte ich gerne',
      'ich hätte das gern|ich hätte das gerne|das will ich|ich will das|das wäre toll|das wäre schön|das wäre gut|das wäre nett|das wäre super|das wäre lieb',
      'das wäre prima|das wäre perfekt|wäre schön|wäre toll|wäre nett|ich bitte darum|ich bin einverstanden|bin einverstanden|ich bin sicher|bin sicher',
      'das können sie machen|können sie machen|können sie gern machen|können sie gerne machen|das dürfen sie|dürfen sie|sie dürfen|sie können|tun sie das',
      'tu das|machen sie es|machen sie|mach es|machen wir|das machen wir|so machen wir das|machen wir so|so machen wir es|ich stimme zu',
      'stimme zu|sehr gern|sehr gerne|das passt|passt so|passt mir|das passt mir|das ist richtig|das stimmt|das ist gut|das ist in ordnung|das klingt gut',
      'klingt gut|jep|alles richtig|alles korrekt|das bestätige ich|von mir aus|von mir aus gern|von mir aus gerne|nur zu|wenn sie so nett wären|wenn sie so freundlich wären|bitte sehr',
    ),
    wishes: listed(
      'ich möchte|möchte ich|ich will|ich hätte gern|ich hätte gerne|hätte ich gern|hätte ich gerne',
    ),
    courtesies: listed(
      'für mich|danke der nachfrage|danke für ihre hilfe|oh|ah|hm|hmm|okay',
      'äh|ähm|also|bitte|danke|danke schön|dankeschön|danke sehr|vielen dank|vielen lieben dank|tausend dank|herzlichen dank|besten dank|sehr nett|sehr freundlich|das ist nett',
      'das ist sehr nett|super|prima|toll|perfekt|wunderbar|gut|sehr gut|schön',
    ),
    light: spaced('so das es ich doch dann ist'),
    tellers: spaced('ich wir er mein meine meinen meiner'),
    openers: spaced('der die den dem ein eine einen einem einer für um im in mit von zu nach an und auch'),
    hedges: spaced(
      'aber wenn falls vielleicht oder sondern stattdessen eigentlich lieber erst nur später vorher anders andere',
      'glaube denke wie wann warum wer wo welche',
      'was frage fragen weiß weiss verstehe verstanden kenne sehe höre merke heiße hallo noch schon hier dran trotzdem eben allerdings wahrscheinlich eventuell hoffe bevor nachdem erzählen erzähl erklären erklär wiederholen wiederhole wiederhol hören hör sprechen sprich lesen lies lauter langsamer überlegen minute',
    ),
    details: spaced(
      'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig halb beide heute morgen übermorgen abend mittag nachmittag uhr woche',
      'nächste nächsten nächster montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag personen leute auch',
    ),
    noRefusal: listed('kein problem|keine sorge|warum nicht|nichts dagegen|keine einwände'),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|storn|absag|abbest|kündig|kuendig|widerruf|abbrech|abbruch)/u,
        said: listed(
          'ab|stornieren|stornier|storniere|absagen|abbestellen|kündigen|kündige|widerrufen|abbrechen|sagen sie ab|sag ab|brechen sie ab|bestellen sie ab',
        ),
        clear: listed(
          'stornieren sie|bitte stornieren|storniere es|storniere sie|storniere ihn|stornier es|bitte absagen|sagen sie es ab|sagen sie ihn ab|sagen sie sie ab|sag es ab|sag ihn ab|sag sie ab|bitte kündigen|kündigen sie|kündige es|bitte abbestellen|bestellen sie es ab|bitte widerrufen',
        ),
      },
      {
        tool: /(?:^| )(?:stop|anhalt|paus)/u,
        said: listed('stopp|stop|stoppen|anhalten|halt'),
        clear: listed('stoppen sie es|bitte stoppen|halten sie es an|bitte anhalten'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|lösch|loesch|entfern)/u,
        said: listed('löschen|lösche|lösch|entfernen|entferne'),
        clear: listed('löschen sie|bitte löschen|lösche es|lösch es|bitte entfernen|entfernen sie'),
      },
    ],
  },
};
